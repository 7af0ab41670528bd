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
        {% do found.append(graph.sources.get(unique_id) or dbt.as_read(graph.nodes.get(unique_id), node.get('is_deferred'))) %}
    {% endfor %}
    {{ return(found) }}
{% endmacro %}

{# The relations that the model's own SQL names. The tables below its views are not among them. #}
{% macro own_relations() %}
    {% set found = [] %}
    {% for node in dbt.dependencies(model) %}
        {% do found.append(dbt.relation_of(node)) %}
    {% endfor %}
    {{ return(found) }}
{% endmacro %}
