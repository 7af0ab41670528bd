{# dbt's own answer, but for `tidemark verify`: a rebuild has no table yet. #}
{% macro is_incremental() %}
    {{ return(dbt.is_incremental() and not (execute and env_var('TIDEMARK_PURPOSE', '') == 'verify')) }}
{% endmacro %}
