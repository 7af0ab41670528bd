{# Column names in backticks, so that reserved words and special characters work. #}
{% macro tidemark__quoted(columns, prefix='') %}
    {% set names = [] %}
    {% for column in dbt.tidemark__as_list(columns) %}
        {% do names.append(prefix ~ '`' ~ column | replace('`', '``') ~ '`') %}
    {% endfor %}
    {{ return(names | join(', ')) }}
{% endmacro %}
