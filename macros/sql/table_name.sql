{# `schema.table`, as the state tables name a relation. #}
{% macro table_name(relation) %}
    {{ return(relation.schema ~ '.' ~ relation.identifier) }}
{% endmacro %}

{# The relation of a node of the graph: of a model, seed, snapshot or source. #}
{% macro relation_of(node) %}
    {{ return(api.Relation.create(schema=node.schema, identifier=node.alias or node.identifier)) }}
{% endmacro %}

{# The relation that table_name() names. #}
{% macro relation_named(name) %}
    {{ return(api.Relation.create(schema=name.split('.')[0], identifier=name.split('.')[1])) }}
{% endmacro %}

{# The node of the graph of the model that makes a table; empty for a table that no model makes. #}
{% macro model_of(relation) %}
    {% for node in graph.nodes.values() if node.resource_type == 'model' and node.schema == relation.schema and node.alias == relation.identifier %}
        {{ return(node) }}
    {% endfor %}
    {{ return({}) }}
{% endmacro %}
