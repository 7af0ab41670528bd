{# Adds the constraints that a table does not have yet; Delta checks all rows. #}
{% macro tidemark__delta_add_guards(relation, properties) %}
    {% set present = dbt.tidemark__guards_in(adapter.table_state(relation).properties) %}
    {% for name, expression in properties.items() if name.startswith(dbt.tidemark__delta_guard_prefix()) and name | lower not in present %}
        {% set plain = name.removeprefix(dbt.tidemark__delta_guard_prefix()) %}
        {% do run_query('alter table ' ~ relation ~ ' add constraint ' ~ plain ~ ' check (' ~ expression ~ ')') %}
    {% endfor %}
{% endmacro %}
