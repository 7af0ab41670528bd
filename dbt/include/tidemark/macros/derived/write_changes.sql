{# Brings the table of a plain model up to date: from the changes of its sources where its query allows that, else by a
   comparison of the whole query with the table. #}
{% macro tidemark__write_changes(relation, query) %}
    {% set how = dbt.tidemark__read_state() %}
    {% set plan = none if how.is_whole else dbt.tidemark__plan_of(query, how.changed) %}
    {% set staged = dbt.tidemark__staged(query, how.changed) if plan and plan.way == 'full' else none %}
    {% if staged %}
        {{ return(dbt.tidemark__write_over_stages(relation, query, staged, plan)) }}
    {% endif %}
    {% if plan is none or plan.way == 'full' %}
        {% do dbt.tidemark__note_full(plan.why if plan else how.why) %}
        {% do dbt.tidemark__write_difference(relation, query) %}
        {{ return('') }}
    {% endif %}
    {% do dbt.tidemark__note_incremental(plan.how) %}
    {% set readings = dbt.tidemark__readings() %}
    {% if plan.reads_previous(readings) and not dbt.tidemark__keeps_columns() %}
        {% do dbt.tidemark__note_full('a source has other columns than at the last run') %}
        {% do dbt.tidemark__write_difference(relation, query) %}
        {{ return('') }}
    {% endif %}
    {% do dbt.tidemark__write_plan(relation, query, plan, readings) %}
{% endmacro %}

{% macro tidemark__plan_of(query, changed) %}
    {{ return(adapter.incremental_plan(query.sql, dict(dbt.tidemark__plan_request(query.types, changed), key=query['keys']))) }}
{% endmacro %}

{# What a plan is made from: tidemark/engine/incremental/plan.py, Request. #}
{% macro tidemark__plan_request(types, changed) %}
    {{ return({
        'key': dbt.tidemark__as_list(config.get('unique_key')), 'known_keys': adapter.keys_below(model.unique_id, dbt.tidemark__deferred_below(model)),
        'types': types, 'changed': changed,
        'never_null': dbt.tidemark__never_null_columns(), 'is_clean': adapter.decide().losses.is_clean(dbt.tidemark__facts()),
        'maintain': config.get('meta', {}).get('maintain', 'auto'), 'why_full': dbt.tidemark__why_full_by_cost(),
        'sizes': dbt.tidemark__facts().source_bytes, 'size': adapter.table_state(this).bytes, 'partition': dbt.tidemark__replaced_partition()
    }) }}
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
