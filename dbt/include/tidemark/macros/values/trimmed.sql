{# Spark's `trim` removes spaces alone. #}
{% macro trimmed(column) -%}
    btrim({{ column }}, concat(' ', chr(9), chr(10), chr(11), chr(12), chr(13), chr(160)))
{%- endmacro %}

{# Texts as SQL, in lower case. #}
{% macro tidemark__texts_in_sql(texts) %}
    {% set literals = [] %}
    {% for text in dbt.tidemark__as_list(texts) %}
        {% do literals.append("'" ~ dbt.tidemark__escaped(text | lower) ~ "'") %}
    {% endfor %}
    {{ return(literals | join(', ')) }}
{% endmacro %}
