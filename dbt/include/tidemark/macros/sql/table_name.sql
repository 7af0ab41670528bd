{# `schema.table`, the name of a relation in the state tables. #}
{% macro tidemark__table_name(relation) %}
    {{ return(relation.schema ~ '.' ~ relation.identifier) }}
{% endmacro %}

{# The relation of a model, seed, snapshot or source of the graph. #}
{% macro tidemark__relation_of(node) %}
    {{ return(api.Relation.create(schema=node.schema, identifier=node.alias or node.identifier)) }}
{% endmacro %}

{# The relation for a name of table_name(). #}
{% macro tidemark__relation_named(name) %}
    {{ return(api.Relation.create(schema=name.split('.')[0], identifier=name.split('.')[1])) }}
{% endmacro %}

{# The graph node of the model that builds a table; empty if no model builds it. #}
{% macro tidemark__model_of(relation) %}
    {% for node in graph.nodes.values() if node.resource_type == 'model' and node.schema == relation.schema and node.alias == relation.identifier %}
        {{ return(node) }}
    {% endfor %}
    {{ return({}) }}
{% endmacro %}
