{# A model's schema is its layer. The target's schema is a prefix, unless it is `default`. #}
{% macro generate_schema_name(custom_schema_name, node) -%}
    {%- set layer = (custom_schema_name or 'silver') | trim -%}
    {%- if target.schema == 'default' -%}
        {{ layer }}
    {%- else -%}
        {{ target.schema }}_{{ layer }}
    {%- endif -%}
{%- endmacro %}
