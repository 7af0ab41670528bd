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
                select
                    {{ dbt.quoted(by) }},
                    {% for measure in extremes %}{{ dbt.quoted('__tidemark_value_' ~ measure.name) }}{{ ', ' if not loop.last }}{% endfor %}
                from {{ changed_rows }}
                group by all
                having sum(__tidemark_sign) < 0
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
            inner join {{ dbt.at_current_version(this) }} as present
                on {{ dbt.null_safe_equal('taken', 'present', by) }}
            where
                {% for measure in extremes -%}
                taken.{{ dbt.quoted('__tidemark_value_' ~ measure.name) }} <=> present.{{ dbt.quoted(measure.name) }}{{ ' or ' if not loop.last }}
                {% endfor %}
        )
    {% endset %}
    {{ return(query if run_query('select 1 as one from ' ~ query ~ ' limit 1').rows | length else none) }}
{% endmacro %}

{# The lost keys with the measures of their current rows. A key without rows counts 0. #}
{% macro aggregated_again(relation, lost_keys, by, measured, where) %}
    select
        {{ dbt.quoted(by, 'lost_keys.') }},
        {% for measure in measured -%}
        {%- set value = 'source_rows.' ~ ('__tidemark_is_there' if measure.counts_rows else dbt.quoted('__tidemark_value_' ~ measure.name)) %}
        {{ dbt.aggregate_of(measure, value) }} as {{ dbt.quoted(measure.name) }}{{ ',' if not loop.last }}
        {% endfor %}
    from {{ lost_keys }} as lost_keys
    left join (
        select /*+ broadcast(wanted) */ source_rows.*
        from (
            select
                {{ dbt.quoted(by) }},
                {{ dbt.measured_values(measured) }}
                true as __tidemark_is_there
            from {{ dbt.pinned(relation) }}
            where {{ where }}
        ) as source_rows
        left semi join {{ lost_keys }} as wanted
            on {{ dbt.null_safe_equal('source_rows', 'wanted', by) }}
    ) as source_rows
        on {{ dbt.null_safe_equal('lost_keys', 'source_rows', by) }}
    group by {{ dbt.quoted(by, 'lost_keys.') }}
{% endmacro %}
