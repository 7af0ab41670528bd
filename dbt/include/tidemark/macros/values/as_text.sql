{% macro as_text(column, nulls=['']) -%}
    {%- if dbt.tidemark__as_list(nulls) == [''] -%}
    nullif({{ dbt.trimmed(column) }}, '')
    {%- else -%}
    if({{ dbt.has_value(column, nulls) }}, {{ dbt.trimmed(column) }}, null)
    {%- endif -%}
{%- endmacro %}
