{# Adds the constraints that a table does not have yet; Delta checks all rows. #}
{% macro delta_add_guards(relation, properties) %}
    {% set present = dbt.guards_in(adapter.table_state(relation).properties) %}
    {% for name, expression in properties.items() if name.startswith(dbt.delta_guard_prefix()) and name | lower not in present %}
        {% do run_query('alter table ' ~ relation ~ ' add constraint ' ~ name.removeprefix(dbt.delta_guard_prefix()) ~ ' check (' ~ expression ~ ')') %}
    {% endfor %}
{% endmacro %}
