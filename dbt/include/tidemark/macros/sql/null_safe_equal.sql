{% macro null_safe_equal(left, right, columns) %}
    {%- for column in columns -%}
        {{ left }}.{{ dbt.quoted(column) }} <=> {{ right }}.{{ dbt.quoted(column) }}{{ ' and ' if not loop.last }}
    {%- endfor -%}
{% endmacro %}

{# True if the columns of two rows are stored alike: maps and variants too, which Spark does not compare. #}
{% macro same_values(left, right, columns, types) %}
    {% set compared = {} %}
    {% for column in columns %}
        {% do compared.update({column: types[column]}) %}
    {% endfor %}
    {{ return(adapter.same_values(left, right, compared)) }}
{% endmacro %}
