{# Escapes text for a Spark SQL string literal in single quotes. #}
{% macro tidemark__escaped(text) %}
    {{ return(text | string | replace('\\', '\\\\') | replace("'", "\\'")) }}
{% endmacro %}
