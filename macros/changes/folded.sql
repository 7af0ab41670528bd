{% macro folded(relation, by, measures, where='true') %}
    {{ return(adapter.dispatch('folded', 'tidemark')(relation, by, measures, where)) }}
{% endmacro %}

{% macro default__folded(relation, by, measures, where) %}
    {% set measured = tidemark.parsed_measures(measures) %}
    {% if not execute or relation.is_cte %}
        {{ return(tidemark.aggregated(relation, by, measured, where)) }}
    {% endif %}
    {% set window = tidemark.change_window(relation) %}
    {% if window.state == 'nothing new' %}
        {{ return(tidemark.aggregated(tidemark.change_rows(relation, window, none), by, measured, where)) }}
    {% elif window.state != 'incremental' %}
        {{ return(tidemark.aggregated(tidemark.pinned(relation), by, measured, where)) }}
    {% endif %}
    {{ return(tidemark.folded_changes(relation, window, tidemark.as_list(by), measured, where)) }}
{% endmacro %}

{# The plain query: what a full rebuild computes. #}
{% macro aggregated(rows, by, measured, where) %}
    select
        {{ tidemark.quoted(by) }},
        {% for measure in measured -%}
        {{ tidemark.aggregate_of(measure, measure.expression) }} as {{ tidemark.quoted(measure.name) }},
        {% endfor -%}
        false as _is_deleted
    from {{ rows }}
    where {{ where }}
    group by {{ tidemark.quoted(by) }}
{% endmacro %}

{# Present + after-images - before-images. A minimum or maximum cannot be taken back: keys whose extreme may have
   gone are aggregated anew, and so are all touched keys when the table was written since its checkpoint (the
   changes may be in it already, from a run that was cut off). #}
{% macro folded_changes(relation, window, by, measured, where) %}
    {% set keys = tidemark.quoted(by) %}
    {% set extremes = measured | selectattr('function', 'in', ('min', 'max')) | list %}
    {% set counter = (measured | selectattr('counts_rows') | first).name %}
    with changed_rows as (
        select
            {{ keys }},
            {% for measure in measured if not measure.counts_rows -%}
            {{ measure.expression }} as {{ tidemark.quoted('_' ~ measure.name) }},
            {% endfor -%}
            if(_change_type in ('insert', 'update_postimage'), 1, -1) as _sign
        from {{ tidemark.change_rows(relation, window, none) }}
        where {{ where }}
    ),

    lost_keys as (
        {% if tidemark.is_written_since_checkpoint() -%}
        select distinct {{ keys }} from changed_rows
        {%- elif extremes -%}
        select distinct {{ tidemark.quoted(by, 'taken.') }}
        from (
            select {{ keys }}, {% for measure in extremes %}{{ tidemark.quoted('_' ~ measure.name) }}{{ ', ' if not loop.last }}{% endfor %}
            from changed_rows
            group by all
            having sum(_sign) < 0
        ) as taken
        inner join {{ tidemark.as_it_is(this) }} as present
            on {{ tidemark.null_safe_equal('taken', 'present', by) }}
        where
            {% for measure in extremes -%}
            taken.{{ tidemark.quoted('_' ~ measure.name) }} <=> present.{{ tidemark.quoted(measure.name) }}{{ ' or ' if not loop.last }}
            {% endfor %}
        {%- else -%}
        select {{ keys }} from changed_rows where false
        {%- endif %}
    ),

    deltas as (
        select
            {{ keys }},
            {% for measure in measured -%}
            {% set value = tidemark.quoted('_' ~ measure.name) -%}
            {% if measure.counts_rows %}sum(_sign)
            {%- elif measure.function == 'count' %}sum(if({{ value }} is null, 0, _sign))
            {%- elif measure.function == 'sum' %}sum(if(_sign > 0, {{ value }}, -{{ value }}))
            {%- else %}{{ measure.function }}(if(_sign > 0, {{ value }}, null)){% endif %} as {{ tidemark.quoted(measure.name) }}{{ ',' if not loop.last }}
            {% endfor %}
        from changed_rows
        left anti join lost_keys
            on {{ tidemark.null_safe_equal('changed_rows', 'lost_keys', by) }}
        group by {{ keys }}
    ),

    added as (
        select
            {{ tidemark.quoted(by, 'deltas.') }},
            {% for measure in measured -%}
            {% set value = tidemark.quoted(measure.name) -%}
            {% if measure.function in ('min', 'max') %}{{ 'least' if measure.function == 'min' else 'greatest' }}(present.{{ value }}, deltas.{{ value }})
            {%- else %}coalesce(present.{{ value }}, 0) + coalesce(deltas.{{ value }}, 0){% endif %} as {{ value }}{{ ',' if not loop.last }}
            {% endfor %}
        from deltas
        left join {{ tidemark.as_it_is(this) }} as present
            on {{ tidemark.null_safe_equal('deltas', 'present', by) }}
    ),

    anew as (
        select /*+ broadcast(lost_keys) */
            {{ tidemark.quoted(by, 'lost_keys.') }},
            {% for measure in measured -%}
            {{ tidemark.aggregate_of(measure, 'source_rows.' ~ ('_is_there' if measure.counts_rows else tidemark.quoted('_' ~ measure.name))) }} as {{ tidemark.quoted(measure.name) }}{{ ',' if not loop.last }}
            {% endfor %}
        from lost_keys
        left join (
            select
                {{ keys }},
                {% for measure in measured if not measure.counts_rows -%}
                {{ measure.expression }} as {{ tidemark.quoted('_' ~ measure.name) }},
                {% endfor -%}
                true as _is_there
            from {{ tidemark.pinned(relation) }}
            where {{ where }}
        ) as source_rows
            on {{ tidemark.null_safe_equal('lost_keys', 'source_rows', by) }}
        group by {{ tidemark.quoted(by, 'lost_keys.') }}
    )

    select
        {{ keys }},
        {% for measure in measured -%}
        {% set type = model.columns.get(measure.name, {}).get('data_type') -%}
        {{ 'cast(' ~ tidemark.quoted(measure.name) ~ ' as ' ~ type ~ ') as ' if type }}{{ tidemark.quoted(measure.name) }},
        {% endfor -%}
        {{ tidemark.quoted(counter) }} = 0 as _is_deleted
    from (select * from added union all select * from anew)
{% endmacro %}

{# A sum of no values is 0 here, since that is what folding comes to. #}
{% macro aggregate_of(measure, expression) %}
    {% set aggregate = measure.function ~ '(' ~ expression ~ ')' %}
    {{ return('coalesce(' ~ aggregate ~ ', 0)' if measure.function == 'sum' else aggregate) }}
{% endmacro %}

{# `sum(quantity)` as {name, function, expression}; one measure must count rows, to tell a key that has none left. #}
{% macro parsed_measures(measures) %}
    {% set parsed = [] %}
    {% for name, aggregate in measures.items() %}
        {% set match = modules.re.match('^(count|sum|min|max)\((.*)\)$', aggregate | trim) %}
        {% if not match %}
            {% do exceptions.raise_compiler_error(
                this.identifier ~ ': folded() cannot fold `' ~ aggregate ~ '`. It folds count, sum, min and max of an expression.'
            ) %}
        {% endif %}
        {% do parsed.append({
            'name': name, 'function': match.group(1), 'expression': match.group(2) | trim,
            'counts_rows': aggregate | replace(' ', '') == 'count(*)'
        }) %}
    {% endfor %}
    {% if not parsed | selectattr('counts_rows') | list %}
        {% do exceptions.raise_compiler_error(this.identifier ~ ': folded() needs a measure `count(*)`, to tell when a key has no row left.') %}
    {% endif %}
    {{ return(parsed) }}
{% endmacro %}
