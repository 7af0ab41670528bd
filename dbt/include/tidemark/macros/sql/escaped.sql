{# Escapes text for a Spark SQL string literal in single quotes. #}
{% macro escaped(text) %}
    {{ return(text | string | replace('\\', '\\\\') | replace("'", "\\'")) }}
{% endmacro %}
