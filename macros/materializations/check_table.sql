{# A table that was built with another contract than the model's would differ from a rebuilt one: stop. #}
{% macro check_table(relation, query) %}
    {% set present = tidemark.columns_of(relation) %}
    {% if present != query.types %}
        {% do tidemark.ask_for_rebuild(relation, 'columns', present, query.types) %}
    {% endif %}
    {% set guarded = tidemark.guards_in(tidemark.table_state(relation).properties) %}
    {% set declared = tidemark.guards_in(tidemark.table_properties(model)) %}
    {% if guarded != declared %}
        {% do tidemark.ask_for_rebuild(relation, 'constraints', guarded, declared) %}
    {% endif %}
{% endmacro %}

{# The properties that hold a contract's constraints. #}
{% macro guards_in(properties) %}
    {% set prefix = tidemark.by_format('guard_prefix')() %}
    {% set found = {} %}
    {% for name, value in properties.items() if name.startswith(prefix) %}
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
