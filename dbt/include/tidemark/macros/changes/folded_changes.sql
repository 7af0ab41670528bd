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
            {% set value = dbt.quoted('__tidemark_value_' ~ measure.name) -%}
            {% if measure.counts_rows %}sum(__tidemark_sign)
            {%- elif measure.function == 'count' %}sum(if({{ value }} is null, 0, __tidemark_sign))
            {%- elif measure.function == 'sum' %}sum(if(__tidemark_sign > 0, {{ value }}, -{{ value }}))
            {%- else %}{{ measure.function }}(if(__tidemark_net > 0, {{ value }}, null)){% endif %} as {{ dbt.quoted(measure.name) }}{{ ',' if not loop.last }}
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
        left join {{ dbt.at_current_version(this) }} as present
            on {{ dbt.null_safe_equal('deltas', 'present', by) }}
    )
    {%- if lost_keys %},

    anew as (
        {{ dbt.aggregated_again(relation, lost_keys, by, measured, where) }}
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

{# The changes with each measure's expression as `__tidemark_value_…`, their `__tidemark_sign`, and `__tidemark_net`: the change in the number of rows with
   these extremes. A value that was added and removed again within several commits does not count for this run. #}
{% macro signed_changes(relation, window, by, measured, where) %}
    {% set extremes = measured | selectattr('function', 'in', ('min', 'max')) | list %}
    (
        select
            *,
            {% if extremes and dbt.commits_of(relation, window) | length > 1 -%}
            sum(__tidemark_sign) over (
                partition by {{ dbt.quoted(by) }}{% for measure in extremes %}, {{ dbt.quoted('__tidemark_value_' ~ measure.name) }}{% endfor %}
            ) as __tidemark_net
            {%- else -%}
            __tidemark_sign as __tidemark_net
            {%- endif %}
        from (
            select
                {{ dbt.quoted(by) }},
                {{ dbt.measured_values(measured) }}
                {{ dbt.change_sign() }} as __tidemark_sign
            from {{ dbt.change_rows(relation, window) }}
            where {{ where }}
        )
    )
{% endmacro %}

{% macro measured_values(measured) %}
    {% for measure in measured if not measure.counts_rows -%}
    {{ measure.expression }} as {{ dbt.quoted('__tidemark_value_' ~ measure.name) }},
    {% endfor %}
{% endmacro %}
