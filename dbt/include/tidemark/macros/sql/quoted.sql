{# Column names in backticks, so that reserved words and special characters work. #}
{% macro quoted(columns, prefix='') %}
    {% set names = [] %}
    {% for column in dbt.as_list(columns) %}
        {% do names.append(prefix ~ '`' ~ column | replace('`', '``') ~ '`') %}
    {% endfor %}
    {{ return(names | join(', ')) }}
{% endmacro %}
