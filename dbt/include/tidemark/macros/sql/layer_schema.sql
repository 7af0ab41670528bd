{% macro layer_schema(layer) %}
    {{ return(layer | trim if target.schema == 'default' else target.schema ~ '_' ~ layer | trim) }}
{% endmacro %}
