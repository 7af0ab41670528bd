{# get_json_object() cannot name a field that has a quote in its name. #}
{% macro rescued_value(field, from='_rescued_data') -%}
    from_json({{ from }}, 'map<string,string>')['{{ dbt.tidemark__escaped(field) }}']
{%- endmacro %}
