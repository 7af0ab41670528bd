{# Before the first node. With a catalog in files, the process holds the whole lake instead: adapter/locks.py. #}
{% macro lock_selected_tables() %}
    {% set tables = [] %}
    {% if flags.WHICH != 'test' %}
        {% for node in graph.nodes.values() if node.unique_id in selected_resources and node.resource_type in ('model', 'seed', 'snapshot')
            and node.config.materialized not in ('view', 'ephemeral') %}
            {% do tables.append(dbt.table_name(dbt.relation_of(node))) %}
        {% endfor %}
    {% endif %}
    {% do dbt.run_state('locks').update(tables=adapter.lock_tables(tables)) %}
{% endmacro %}

{# After the last hook. #}
{% macro unlock_selected_tables() %}
    {% do adapter.unlock_tables(dbt.run_state('locks').get('tables', [])) %}
{% endmacro %}
