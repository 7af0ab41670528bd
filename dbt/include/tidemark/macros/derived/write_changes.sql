{# Brings the table of a plain model up to date: from the changes of its sources where its query allows that, else by a
   comparison of the whole query with the table. #}
{% macro write_changes(relation, query) %}
    {% set how = dbt.read_state() %}
    {% set plan = none if how.is_whole else dbt.plan_of(query, how.changed) %}
    {% if plan is none or plan.way == 'full' %}
        {% do dbt.note_full(plan.why if plan else how.why) %}
        {% do dbt.write_difference(relation, query) %}
        {{ return('') }}
    {% endif %}
    {% do dbt.note_incremental(plan) %}
    {% set readings = dbt.readings() %}
    {% if plan.reads_previous(readings) and not dbt.keeps_columns() %}
        {% do dbt.note_full('a source has other columns than at the last run') %}
        {% do dbt.write_difference(relation, query) %}
        {{ return('') }}
    {% endif %}
    {% do dbt.write_plan(relation, query, plan, readings) %}
{% endmacro %}

{% macro plan_of(query, changed) %}
    {{ return(adapter.incremental_plan(query.sql, dict(dbt.plan_request(query.types, changed), key=query['keys']))) }}
{% endmacro %}

{# What a plan is made from: tidemark/engine/incremental/plan.py, Request. #}
{% macro plan_request(types, changed) %}
    {{ return({
        'key': dbt.as_list(config.get('unique_key')), 'known_keys': adapter.keys_below(model.unique_id, dbt.deferred_below(model)),
        'types': types, 'changed': changed,
        'never_null': dbt.never_null_columns(), 'is_clean': adapter.decide().losses.is_clean(dbt.facts()),
        'sizes': dbt.facts().source_bytes, 'size': adapter.table_state(this).bytes, 'partition': dbt.replaced_partition()
    }) }}
{% endmacro %}

{# The columns of the model's sources that an enforced contract keeps free of NULL, as `schema.table.column`. #}
{% macro never_null_columns() %}
    {% set found = [] %}
    {% for node in dbt.tables_below(model) if node.resource_type == 'model' and node.config.contract.enforced %}
        {% for column in node.columns.values() if column.constraints | selectattr('type', 'equalto', 'not_null') | list %}
            {% do found.append((dbt.table_name(dbt.relation_of(node)) ~ '.' ~ column.name) | lower) %}
        {% endfor %}
    {% endfor %}
    {{ return(found) }}
{% endmacro %}
