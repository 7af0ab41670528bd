{% macro null_safe_equal(left, right, columns) %}
    {%- for column in columns -%}
        {{ left }}.{{ dbt.quoted(column) }} <=> {{ right }}.{{ dbt.quoted(column) }}{{ ' and ' if not loop.last }}
    {%- endfor -%}
{% endmacro %}
