{# Like dbt's own macro, except in `tidemark verify`: a rebuild has no table yet. #}
{% macro is_incremental() %}
    {{ return(dbt.is_incremental() and not (execute and var('tidemark_purpose', '') == 'verify')) }}
{% endmacro %}
