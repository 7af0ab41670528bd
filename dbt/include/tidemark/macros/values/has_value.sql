{% macro has_value(column, nulls=['']) -%}
    lower({{ dbt.trimmed(column) }}) not in ({{ dbt.tidemark__texts_in_sql(nulls) }})
{%- endmacro %}
