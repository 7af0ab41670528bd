{# Stores the constraints; the rows of this command were checked. #}
{% macro tidemark__iceberg_add_guards(relation, properties) %}
    {% set name = dbt.tidemark__iceberg_guard_prefix() %}
    {% if adapter.table_state(relation).properties.get(name) != properties[name] %}
        {% do run_query('alter table ' ~ relation ~ " set tblproperties ('" ~ name ~ "' = '" ~ dbt.tidemark__escaped(properties[name]) ~ "')") %}
    {% endif %}
{% endmacro %}
