{# A table at its current version. Without the version, Spark recomputes views kept from the table when the table is written. #}
{% macro at_current_version(relation) %}
    {{ return(dbt.as_of(relation, dbt.table_state(relation).version)) }}
{% endmacro %}
