{# A unit test takes the settings of the model that it tests. #}
{% macro newest_of(rows) %}
    {% set settings = adapter.config_of(model.get('tested_node_unique_id') or model.unique_id) if execute else {} %}
    {% set key = dbt.quoted(settings.get('unique_key')) %}
    {% if execute and not key %}
        {% do exceptions.raise_compiler_error(model.name ~ ': newest_of() needs unique_key in the config.') %}
    {% endif %}
    {% set order = [] %}
    {% for column in dbt.as_list(settings.get('meta', {}).get('newest_by')) %}
        {% do order.append(dbt.quoted(column) ~ ' desc') %}
    {% endfor %}
    select *
    from (
        select
            *,
            row_number() over (
                partition by {{ key }} order by {{ (order + [dbt.landing_order()]) | join(', ') }}
            ) as _newest_rank,
            count(*) over (partition by {{ key }}) as _versions
        from {{ rows }}
        where rejection_reason is null
    )
    where _newest_rank = 1
{% endmacro %}
