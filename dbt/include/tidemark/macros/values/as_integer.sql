{# Without the pattern, `try_cast` would read 02134 as 2134, and other texts as one number, too. #}
{% macro as_integer(column, type='bigint') -%}
    if({{ dbt.trimmed(column) }} rlike '^(0|-?[1-9][0-9]*)$', try_cast({{ dbt.trimmed(column) }} as {{ type }}), null)
{%- endmacro %}
