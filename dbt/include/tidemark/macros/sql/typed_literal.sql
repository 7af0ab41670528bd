{# The literal of a value, given as text. #}
{% macro tidemark__typed_literal(value, type) %}
    {{ return(adapter.typed_literal(value, type)) }}
{% endmacro %}
