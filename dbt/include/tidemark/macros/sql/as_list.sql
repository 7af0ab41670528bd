{% macro tidemark__as_list(value) %}
    {{ return([] if value is none or value is undefined else [value] if value is string else value) }}
{% endmacro %}
