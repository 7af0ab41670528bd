{# A table that was made by another contract than the model's would differ from a rebuilt one: stop. #}
{% macro check_table(relation, query) %}
    {% set present = {} %}
    {% for column in adapter.get_columns_in_relation(relation) %}
        {% do present.update({column.name: column.dtype}) %}
    {% endfor %}
    {% if tidemark.read_state().state == 'columns added' %}
        {% do tidemark.add_columns(relation, query, present) %}
    {% endif %}
    {% if present != query.types %}
        {% do tidemark.ask_for_rebuild(relation, 'columns', present, query.types) %}
    {% endif %}
    {% set guarded = {} %}
    {% for name, value in tidemark.table_state(relation).properties.items() if name.startswith('delta.constraints.') %}
        {% do guarded.update({name | lower: value}) %}
    {% endfor %}
    {% set declared = {} %}
    {% for name, value in tidemark.table_properties(model).items() if name.startswith('delta.constraints.') %}
        {% do declared.update({name | lower: value}) %}
    {% endfor %}
    {% if guarded != declared %}
        {% do tidemark.ask_for_rebuild(relation, 'constraints', guarded, declared) %}
    {% endif %}
{% endmacro %}

{# New columns come last, NULL until the merge of this run, which reads all sources whole, fills them. #}
{% macro add_columns(relation, query, present) %}
    {% set added = [] %}
    {% for name, type in query.types.items() if name not in present %}
        {% do added.append(tidemark.quoted(name) ~ ' ' ~ type) %}
        {% do present.update({name: type}) %}
    {% endfor %}
    {% if added %}
        {% do run_query('alter table ' ~ relation ~ ' add columns (' ~ added | join(', ') ~ ')') %}
        {% do tidemark.forget_table_state(relation) %}
    {% endif %}
{% endmacro %}

{% macro ask_for_rebuild(relation, what, present, declared) %}
    {% do exceptions.raise_compiler_error(
        'The ' ~ what ~ ' of ' ~ relation ~ ' are ' ~ present ~ ', those of its model are ' ~ declared
        ~ '. Rebuild it: `dbt run --full-refresh --select ' ~ relation.identifier ~ '`.'
    ) %}
{% endmacro %}
