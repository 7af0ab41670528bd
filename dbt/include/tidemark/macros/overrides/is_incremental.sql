{# Like dbt's own macro, except in `tidemark verify` and with the var `as_of`: a rebuild has no table yet. #}
{% macro is_incremental() %}
    {% if not execute or var('tidemark_purpose', '') == 'verify' or adapter.reads_past() or should_full_refresh() %}
        {{ return(false) }}
    {% endif %}
    {% set existing = adapter.get_relation(this.database, this.schema, this.table) %}
    {{ return(existing is not none and existing.type == 'table' and model.config.materialized == 'incremental') }}
{% endmacro %}
