{% macro null_safe_equal(left, right, columns) %}
    {%- for column in columns -%}
        {{ left }}.{{ tidemark.quoted(column) }} <=> {{ right }}.{{ tidemark.quoted(column) }}{{ ' and ' if not loop.last }}
    {%- endfor -%}
{% endmacro %}
