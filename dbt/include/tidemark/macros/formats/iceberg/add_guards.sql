{# Stores the constraints; the rows of this command were checked. #}
{% macro iceberg_add_guards(relation, properties) %}
    {% set name = dbt.iceberg_guard_prefix() %}
    {% if adapter.table_state(relation).properties.get(name) != properties[name] %}
        {% do run_query('alter table ' ~ relation ~ " set tblproperties ('" ~ name ~ "' = '" ~ dbt.escaped(properties[name]) ~ "')") %}
    {% endif %}
{% endmacro %}
