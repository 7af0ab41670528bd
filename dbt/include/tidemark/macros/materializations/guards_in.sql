{# Whether a new table would have other constraints or other properties than the present one. #}
{% macro tidemark__has_other_properties(relation) %}
    {% set present, declared = adapter.table_state(relation).properties, dbt.tidemark__table_properties(model) %}
    {% set prefix = dbt.tidemark__by_format('guard_prefix')() %}
    {% for name, value in declared.items() if not name.startswith(prefix) and present.get(name) != (value | string) %}
        {{ return(true) }}
    {% endfor %}
    {{ return(dbt.tidemark__guards_in(present) != dbt.tidemark__guards_in(declared)) }}
{% endmacro %}

{# The properties that hold a contract's constraints. On Iceberg an empty list of them is a property, too. #}
{% macro tidemark__guards_in(properties) %}
    {% set prefix = dbt.tidemark__by_format('guard_prefix')() %}
    {% set found = {} %}
    {% for name, value in properties.items() if name.startswith(prefix) and value != '{}' %}
        {% do found.update({name | lower: value}) %}
    {% endfor %}
    {{ return(found) }}
{% endmacro %}
