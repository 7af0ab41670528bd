{# `try_cast` alone reads 2024-06 as June 1st; `try_to_timestamp` gives the day that the session's zone has at that time. #}
{% macro as_date(column, format='yyyy-MM-dd') -%}
    {%- set text = dbt.trimmed(column) -%}
    {%- if format == 'yyyy-MM-dd' -%}
    if({{ text }} rlike '^[0-9]{4}-[0-9]{2}-[0-9]{2}$', try_cast({{ text }} as date), null)
    {%- else -%}
    try_cast({{ dbt.tidemark__day_of(text, dbt.tidemark__time_pattern(format)) }} as date)
    {%- endif -%}
{%- endmacro %}
