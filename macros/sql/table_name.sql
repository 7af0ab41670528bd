{# `schema.table`, as the state tables name a relation. #}
{% macro table_name(relation) %}
    {{ return(relation.schema ~ '.' ~ relation.identifier) }}
{% endmacro %}
