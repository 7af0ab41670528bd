{# The tables that this command wrote, each with its version before and afterwards: `tidemark undo` needs them. #}
{% macro tidemark__tables_written(results) %}
    {% set tables = [] %}
    {% for result in results if result.status in ('success', 'error') and result.node.unique_id in dbt.tidemark__run_state('before') %}
        {% set node = result.node %}
        {% set relation = dbt.tidemark__relation_of(node) %}
        {% set before = dbt.tidemark__run_state('before')[node.unique_id] %}
        {% set after = dbt.tidemark__run_state('after').get(node.unique_id, dbt.tidemark__run_state('written').get(node.unique_id, {}).get('version')) %}
        {% if dbt.tidemark__is_written_elsewhere(node) and adapter.is_there(relation) %}
            {% set after = adapter.version_now(relation) %}
        {% endif %}
        {% if after is not none and after != before %}
            {% do tables.append({
                'table': dbt.tidemark__table_name(relation), 'table_id': adapter.table_state(relation).id, 'version_before': before, 'version': after
            }) %}
        {% endif %}
        {% for stage in dbt.tidemark__run_state('stages').get(node.unique_id, []) if stage.version != stage.before %}
            {% do tables.append({'table': stage.table, 'table_id': stage.table_id, 'version_before': stage.before, 'version': stage.version}) %}
        {% endfor %}
    {% endfor %}
    {{ return(tables) }}
{% endmacro %}

{# Called before a node writes its table. `before` is none for a table that does not exist yet. #}
{% macro tidemark__note_version_before(node, relation) %}
    {% set existing = load_relation(relation) %}
    {% set has_versions = existing is not none and not existing.is_view and dbt.tidemark__has_versions(relation) %}
    {% do dbt.tidemark__run_state('before').update({node.unique_id: adapter.table_state(relation).version if has_versions else none}) %}
{% endmacro %}

{# Before the first node: for tables that other materializations than the engine's write. #}
{% macro tidemark__note_versions_before() %}
    {% for node in graph.nodes.values() if node.unique_id in selected_resources and flags.WHICH != 'test'
        and dbt.tidemark__is_written_elsewhere(node) and dbt.tidemark__is_of_lake(node) %}
        {% do dbt.tidemark__note_version_before(node, dbt.tidemark__relation_of(node)) %}
        {% do dbt.tidemark__forget_table(dbt.tidemark__relation_of(node)) %}
    {% endfor %}
{% endmacro %}

{% macro tidemark__is_written_elsewhere(node) %}
    {{ return(node.resource_type == 'snapshot' or node.resource_type == 'model' and node.config.materialized == 'table') }}
{% endmacro %}
