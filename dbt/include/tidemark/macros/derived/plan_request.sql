{# What a plan is made from: tidemark/engine/incremental/request.py, Request. #}
{% macro tidemark__plan_request(types, changed) %}
    {{ return({
        'key': dbt.tidemark__as_list(config.get('unique_key')), 'known_keys': adapter.keys_below(model.unique_id, dbt.tidemark__deferred_below(model)),
        'types': types, 'changed': changed,
        'never_null': dbt.tidemark__never_null_columns(), 'is_clean': adapter.decide().losses.is_clean(dbt.tidemark__facts()),
        'few': adapter.decide().costs.few_changes(dbt.tidemark__facts()), 'removes': adapter.decide().costs.may_remove(dbt.tidemark__facts()),
        'maintain': config.get('meta', {}).get('maintain', 'auto'), 'why_full': dbt.tidemark__why_full_by_cost(),
        'sizes': dbt.tidemark__facts().source_bytes, 'size': adapter.table_state(this).bytes, 'partition': dbt.tidemark__replaced_partition()
    }) }}
{% endmacro %}

{# The same for a query whose key is known. #}
{% macro tidemark__request_of(query, changed) %}
    {{ return(dict(dbt.tidemark__plan_request(query.types, changed), key=query['keys'])) }}
{% endmacro %}

{# The columns of the model's sources that an enforced contract keeps free of NULL, as `schema.table.column`. #}
{% macro tidemark__never_null_columns() %}
    {% set found = [] %}
    {% for node in dbt.tidemark__tables_below(model) if node.resource_type == 'model' and node.config.contract.enforced %}
        {% for column in node.columns.values() if column.constraints | selectattr('type', 'equalto', 'not_null') | list %}
            {% do found.append((dbt.tidemark__table_name(dbt.tidemark__relation_of(node)) ~ '.' ~ column.name) | lower) %}
        {% endfor %}
    {% endfor %}
    {{ return(found) }}
{% endmacro %}
