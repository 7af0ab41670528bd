{% macro folded(relation, by, measures, where='true') %}
    {% set measured = dbt.parsed_measures(measures) %}
    {% do dbt.run_state('folded').update({
        model.unique_id: measured | selectattr('function', 'equalto', 'sum') | map(attribute='name') | list
    }) %}
    {% if not execute or dbt.is_given(relation) %}
        {{ return(dbt.aggregated(relation, by, measured, where)) }}
    {% endif %}
    {% set window = dbt.change_window(relation) %}
    {% if window.state == 'nothing new' %}
        {{ return(dbt.aggregated(dbt.change_rows(relation, window), by, measured, where)) }}
    {% elif window.state != 'incremental' %}
        {{ return(dbt.aggregated(dbt.pinned(relation), by, measured, where)) }}
    {% endif %}
    {{ return(dbt.folded_changes(relation, window, dbt.as_list(by), measured, where)) }}
{% endmacro %}

{# The plain query, as a full rebuild runs it. #}
{% macro aggregated(rows, by, measured, where) %}
    select
        {{ dbt.quoted(by) }},
        {% for measure in measured -%}
        {{ dbt.aggregate_of(measure, measure.expression) }} as {{ dbt.quoted(measure.name) }},
        {% endfor -%}
        false as _is_deleted
    from {{ rows }}
    where {{ where }}
    group by {{ dbt.quoted(by) }}
{% endmacro %}

{# Present + after-images - before-images. A minimum or maximum cannot be subtracted, so keys whose extreme may have gone are
   aggregated again. So are all touched keys if the table was written since its checkpoint: an interrupted run may already
   have applied the changes. A query first checks whether there are such keys. Usually there are none, and aggregating again
   reads the whole source. #}
{% macro folded_changes(relation, window, by, measured, where) %}
    {% set keys = dbt.quoted(by) %}
    {% set counter = (measured | selectattr('counts_rows') | first).name %}
    {% set changed_rows = dbt.signed_changes(relation, window, by, measured, where) %}
    {% set lost_keys = dbt.lost_keys(changed_rows, by, measured) %}
    with deltas as (
        select
            {{ keys }},
            {% for measure in measured -%}
            {% set value = dbt.quoted('_value_' ~ measure.name) -%}
            {% if measure.counts_rows %}sum(_sign)
            {%- elif measure.function == 'count' %}sum(if({{ value }} is null, 0, _sign))
            {%- elif measure.function == 'sum' %}sum(if(_sign > 0, {{ value }}, -{{ value }}))
            {%- else %}{{ measure.function }}(if(_net > 0, {{ value }}, null)){% endif %} as {{ dbt.quoted(measure.name) }}{{ ',' if not loop.last }}
            {% endfor %}
        from {{ changed_rows }} as changed_rows
        {% if lost_keys -%}
        left anti join {{ lost_keys }} as lost_keys
            on {{ dbt.null_safe_equal('changed_rows', 'lost_keys', by) }}
        {% endif -%}
        group by {{ keys }}
    ),

    added as (
        select
            {{ dbt.quoted(by, 'deltas.') }},
            {% for measure in measured -%}
            {% set value = dbt.quoted(measure.name) -%}
            {% if measure.function in ('min', 'max') %}{{ 'least' if measure.function == 'min' else 'greatest' }}(present.{{ value }}, deltas.{{ value }})
            {%- else %}coalesce(present.{{ value }}, 0) + coalesce(deltas.{{ value }}, 0){% endif %} as {{ value }}{{ ',' if not loop.last }}
            {% endfor %}
        from deltas
        left join {{ dbt.as_it_is(this) }} as present
            on {{ dbt.null_safe_equal('deltas', 'present', by) }}
    )
    {%- if lost_keys %},

    anew as (
        {{ dbt.aggregated_anew(relation, lost_keys, by, measured, where) }}
    )
    {%- endif %}

    select
        {{ keys }},
        {% for measure in measured -%}
        {% set type = model.columns.get(measure.name, {}).get('data_type') -%}
        {{ 'cast(' ~ dbt.quoted(measure.name) ~ ' as ' ~ type ~ ') as ' if type }}{{ dbt.quoted(measure.name) }},
        {% endfor -%}
        {{ dbt.quoted(counter) }} = 0 as _is_deleted
    from {{ '(select * from added union all select * from anew)' if lost_keys else 'added' }}
{% endmacro %}

{# The changes with each measure's expression as `_value_…`, their `_sign`, and `_net`: the change in the number of rows with
   these extremes. A value that was added and removed again within several commits does not count for this run. #}
{% macro signed_changes(relation, window, by, measured, where) %}
    {% set extremes = measured | selectattr('function', 'in', ('min', 'max')) | list %}
    (
        select
            *,
            {% if extremes and dbt.commits_of(relation, window) | length > 1 -%}
            sum(_sign) over (
                partition by {{ dbt.quoted(by) }}{% for measure in extremes %}, {{ dbt.quoted('_value_' ~ measure.name) }}{% endfor %}
            ) as _net
            {%- else -%}
            _sign as _net
            {%- endif %}
        from (
            select
                {{ dbt.quoted(by) }},
                {{ dbt.measured_values(measured) }}
                {{ dbt.change_sign() }} as _sign
            from {{ dbt.change_rows(relation, window) }}
            where {{ where }}
        )
    )
{% endmacro %}

{% macro measured_values(measured) %}
    {% for measure in measured if not measure.counts_rows -%}
    {{ measure.expression }} as {{ dbt.quoted('_value_' ~ measure.name) }},
    {% endfor %}
{% endmacro %}

{# A query of the keys to aggregate again, or none if there are none. #}
{% macro lost_keys(changed_rows, by, measured) %}
    {% set extremes = measured | selectattr('function', 'in', ('min', 'max')) | list %}
    {% if dbt.is_written_since_checkpoint() %}
        {{ return('(select distinct ' ~ dbt.quoted(by) ~ ' from ' ~ changed_rows ~ ')') }}
    {% elif not extremes %}
        {{ return(none) }}
    {% endif %}
    {% set taken %}
            (
                select {{ dbt.quoted(by) }}, {% for measure in extremes %}{{ dbt.quoted('_value_' ~ measure.name) }}{{ ', ' if not loop.last }}{% endfor %}
                from {{ changed_rows }}
                group by all
                having sum(_sign) < 0
            )
    {% endset %}
    {# most often no value went, which the changes tell without the table #}
    {% if not run_query('select 1 as one from ' ~ taken ~ ' limit 1').rows %}
        {{ return(none) }}
    {% endif %}
    {% set query %}
        (
            select distinct {{ dbt.quoted(by, 'taken.') }}
            from {{ taken }} as taken
            inner join {{ dbt.as_it_is(this) }} as present
                on {{ dbt.null_safe_equal('taken', 'present', by) }}
            where
                {% for measure in extremes -%}
                taken.{{ dbt.quoted('_value_' ~ measure.name) }} <=> present.{{ dbt.quoted(measure.name) }}{{ ' or ' if not loop.last }}
                {% endfor %}
        )
    {% endset %}
    {{ return(query if run_query('select 1 as one from ' ~ query ~ ' limit 1').rows | length else none) }}
{% endmacro %}

{# The lost keys with the measures of their current rows. A key without rows counts 0. #}
{% macro aggregated_anew(relation, lost_keys, by, measured, where) %}
    select
        {{ dbt.quoted(by, 'lost_keys.') }},
        {% for measure in measured -%}
        {{ dbt.aggregate_of(measure, 'source_rows.' ~ ('_is_there' if measure.counts_rows else dbt.quoted('_value_' ~ measure.name))) }} as {{ dbt.quoted(measure.name) }}{{ ',' if not loop.last }}
        {% endfor %}
    from {{ lost_keys }} as lost_keys
    left join (
        select /*+ broadcast(wanted) */ source_rows.*
        from (
            select
                {{ dbt.quoted(by) }},
                {{ dbt.measured_values(measured) }}
                true as _is_there
            from {{ dbt.pinned(relation) }}
            where {{ where }}
        ) as source_rows
        left semi join {{ lost_keys }} as wanted
            on {{ dbt.null_safe_equal('source_rows', 'wanted', by) }}
    ) as source_rows
        on {{ dbt.null_safe_equal('lost_keys', 'source_rows', by) }}
    group by {{ dbt.quoted(by, 'lost_keys.') }}
{% endmacro %}

{# A sum of no values is 0 here, because folding gives 0. #}
{% macro aggregate_of(measure, expression) %}
    {% set aggregate = measure.function ~ '(' ~ expression ~ ')' %}
    {{ return('coalesce(' ~ aggregate ~ ', 0)' if measure.function == 'sum' else aggregate) }}
{% endmacro %}

{# True for the inside of one aggregate; false for the inside of `sum(a) + sum(b)` and for `distinct a`. #}
{% macro is_one_expression(text) %}
    {% set open = namespace(parentheses=0) %}
    {% for character in text %}
        {% set open.parentheses = open.parentheses + {'(': 1, ')': -1}.get(character, 0) %}
        {% if open.parentheses < 0 %}
            {{ return(false) }}
        {% endif %}
    {% endfor %}
    {{ return(not (text | trim | lower).startswith('distinct ')) }}
{% endmacro %}

{# `sum(quantity)` as {name, function, expression}. One measure must count rows, to detect a key that has none left. #}
{% macro parsed_measures(measures) %}
    {% set parsed = [] %}
    {% for name, aggregate in measures.items() %}
        {% set match = modules.re.match('^(count|sum|min|max)[(](.*)[)]$', aggregate | trim) %}
        {% if not match or not dbt.is_one_expression(match.group(2)) %}
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
        {% do exceptions.raise_compiler_error(this.identifier ~ ': folded() needs a measure `count(*)`, to know when a key has no rows left.') %}
    {% endif %}
    {{ return(parsed) }}
{% endmacro %}
