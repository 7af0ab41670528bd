{# Before the first node. With a catalog in files, the process holds the whole lake instead: adapter/locks.py. #}
{% macro tidemark__lock_selected_tables() %}
    {% set tables = [] %}
    {% if flags.WHICH != 'test' %}
        {% for node in graph.nodes.values() if node.unique_id in selected_resources and node.resource_type in ('model', 'seed', 'snapshot')
            and node.config.materialized not in ('view', 'ephemeral') %}
            {% do tables.append(dbt.tidemark__table_name(dbt.tidemark__relation_of(node))) %}
        {% endfor %}
    {% endif %}
    {% do dbt.tidemark__run_state('locks').update(tables=adapter.lock_tables(tables)) %}
{% endmacro %}

{# After the last hook. #}
{% macro tidemark__unlock_selected_tables() %}
    {% do adapter.unlock_tables(dbt.tidemark__run_state('locks').get('tables', [])) %}
{% endmacro %}
