{# A unit test takes the settings of the model that it tests. #}
{% macro newest_of(rows) %}
    {% set unique_id = model.get('tested_node_unique_id') or model.unique_id %}
    {% set settings = adapter.config_of(unique_id) if execute else {} %}
    {% set key = dbt.tidemark__quoted(settings.get('unique_key')) %}
    {% if execute and not key %}
        {% do exceptions.raise_compiler_error(model.name ~ ': newest_of() needs unique_key in the config.') %}
    {% endif %}
    {% set order = [] %}
    {% for column in dbt.tidemark__as_list(settings.get('meta', {}).get('newest_by')) %}
        {% do order.append(dbt.tidemark__quoted(column) ~ ' desc') %}
    {% endfor %}
    {% if execute and adapter.reads_retracted(unique_id) %}
        {% do dbt.tidemark__run_state('retracted').update({model.unique_id: ['_is_deleted', '_is_retracted']}) %}
        {{ return(dbt.newest_since_retraction(rows, key, order)) }}
    {% endif %}
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

{# A key's last tombstone ends all that landed before it. Copies that landed with it keep the order of their first batches. #}
{% macro newest_since_retraction(rows, key, order) %}
    select * except (_retracted_in, _newest_rank)
    from (
        select
            *,
            row_number() over (
                partition by {{ key }}
                order by {{ (
                    ['coalesce(_batch_id < _retracted_in, false)', '_is_deleted'] + order
                    + ['coalesce(_first_batch_id, _batch_id) desc', dbt.landing_order()]
                ) | join(', ') }}
            ) as _newest_rank
        from (
            select
                * except (_is_deleted),
                coalesce(_is_deleted, false) as _is_deleted,
                max(if(_is_deleted, _batch_id, null)) over (partition by {{ key }}) as _retracted_in,
                max(_is_deleted) over (partition by {{ key }}) <=> true as _is_retracted,
                count(*) over (partition by {{ key }}) as _versions
            from {{ rows }}
            where rejection_reason is null
        )
    )
    where _newest_rank = 1
{% endmacro %}
