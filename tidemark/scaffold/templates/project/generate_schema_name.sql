{# A model's schema is its layer. #}
{% macro generate_schema_name(custom_schema_name, node) %}
    {{ return(dbt.layer_schema(custom_schema_name or 'silver')) }}
{% endmacro %}
