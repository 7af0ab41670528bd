{# What a model reads, directly and through views. #}
{% macro tables_below(node) %}
    {% set found = [] %}
    {% for below in dbt.dependencies(node) %}
        {% do found.append(below) %}
        {% if dbt.is_view(below) %}
            {% do found.extend(dbt.tables_below(below)) %}
        {% endif %}
    {% endfor %}
    {{ return(found) }}
{% endmacro %}

{% macro is_view(node) %}
    {{ return(node.resource_type == 'model' and node.config.materialized in ('view', 'ephemeral')) }}
{% endmacro %}

{% macro dependencies(node) %}
    {% set found = [] %}
    {% for unique_id in node.depends_on.nodes if unique_id.split('.')[0] in ('source', 'model', 'seed', 'snapshot') %}
        {% do found.append(graph.sources.get(unique_id) or graph.nodes.get(unique_id)) %}
    {% endfor %}
    {{ return(found) }}
{% endmacro %}
