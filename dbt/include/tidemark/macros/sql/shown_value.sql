{# A value after the reason of a rule, as `: 7.5`: its first 80 characters; an empty text if it is NULL. #}
{% macro tidemark__shown_value(value) -%}
    coalesce(concat(': ', left({{ value }}, 80), if(length({{ value }}) > 80, '…', '')), '')
{%- endmacro %}
