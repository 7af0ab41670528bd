{% macro null_safe_equal(left, right, columns) %}
    {%- for column in columns -%}
        {{ left }}.{{ column }} <=> {{ right }}.{{ column }}{{ ' and ' if not loop.last }}
    {%- endfor -%}
{% endmacro %}
