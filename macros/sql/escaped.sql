{# Text for the inside of a Spark SQL string literal in single quotes. #}
{% macro escaped(text) %}
    {{ return(text | string | replace('\\', '\\\\') | replace("'", "\\'")) }}
{% endmacro %}
