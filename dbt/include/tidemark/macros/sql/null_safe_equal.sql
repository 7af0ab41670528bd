{% macro tidemark__null_safe_equal(left, right, columns) %}
    {%- for column in columns -%}
        {{ left }}.{{ dbt.tidemark__quoted(column) }} <=> {{ right }}.{{ dbt.tidemark__quoted(column) }}{{ ' and ' if not loop.last }}
    {%- endfor -%}
{% endmacro %}
