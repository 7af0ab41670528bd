{# A table that was built with another contract than the model's would differ from a rebuilt one: stop. #}
{% macro check_table(relation, query) %}
    {% set present = dbt.columns_of(relation) %}
    {% if present != query.types %}
        {% do dbt.ask_for_rebuild(relation, 'columns', present, query.types) %}
    {% endif %}
    {% do dbt.check_guards(relation) %}
{% endmacro %}

{# A table must have the constraints of its contract, and no others. #}
{% macro check_guards(relation) %}
    {% set guarded = dbt.guards_in(adapter.table_state(relation).properties) %}
    {% set declared = dbt.guards_in(dbt.table_properties(model)) %}
    {% if guarded != declared %}
        {% do dbt.ask_for_rebuild(relation, 'constraints', guarded, declared) %}
    {% endif %}
{% endmacro %}

{# The properties that hold a contract's constraints. On Iceberg an empty list of them is a property, too. #}
{% macro guards_in(properties) %}
    {% set prefix = dbt.by_format('guard_prefix')() %}
    {% set found = {} %}
    {% for name, value in properties.items() if name.startswith(prefix) and value != '{}' %}
        {% do found.update({name | lower: value}) %}
    {% endfor %}
    {{ return(found) }}
{% endmacro %}

{% macro ask_for_rebuild(relation, what, present, declared) %}
    {% do exceptions.raise_compiler_error(
        'The ' ~ what ~ ' of ' ~ relation ~ ' are ' ~ present ~ ', but its model has ' ~ declared
        ~ '. Rebuild it: `dbt run --full-refresh --select ' ~ relation.identifier ~ '`.'
    ) %}
{% endmacro %}
