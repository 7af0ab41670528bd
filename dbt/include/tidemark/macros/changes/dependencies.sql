{# What a model reads, directly and through views. #}
{% macro tidemark__tables_below(node) %}
    {% set found = [] %}
    {% for below in dbt.tidemark__dependencies(node) %}
        {% do found.append(below) %}
        {% if dbt.tidemark__is_view(below) %}
            {% do found.extend(dbt.tidemark__tables_below(below)) %}
        {% endif %}
    {% endfor %}
    {{ return(found) }}
{% endmacro %}

{% macro tidemark__is_view(node) %}
    {{ return(node.resource_type == 'model' and node.config.materialized in ('view', 'ephemeral')) }}
{% endmacro %}

{% macro tidemark__dependencies(node) %}
    {% set found = [] %}
    {% for unique_id in node.depends_on.nodes if unique_id.split('.')[0] in ('source', 'model', 'seed', 'snapshot') %}
        {% do found.append(graph.sources.get(unique_id) or dbt.tidemark__as_read(graph.nodes.get(unique_id), node.get('is_deferred'))) %}
    {% endfor %}
    {{ return(found) }}
{% endmacro %}

{# The relations that the model's own SQL names, with that of ephemeral models. The tables below its views are not among them. #}
{% macro tidemark__own_relations() %}
    {% set found = [] %}
    {% for node in dbt.tidemark__read_by(model) %}
        {% do found.append(dbt.tidemark__relation_of(node)) %}
    {% endfor %}
    {{ return(found) }}
{% endmacro %}
