{% macro as_boolean(column, true_words=['true'], false_words=['false']) -%}
    case
        when lower({{ dbt.trimmed(column) }}) in ({{ dbt.tidemark__texts_in_sql(true_words) }}) then true
        when lower({{ dbt.trimmed(column) }}) in ({{ dbt.tidemark__texts_in_sql(false_words) }}) then false
    end
{%- endmacro %}
