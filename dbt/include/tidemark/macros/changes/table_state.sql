{# Id, latest version, commits and size of a table: read once per command, and again after the command wrote the table. #}
{% macro table_state(relation) %}
    {% set name = dbt.table_name(relation) %}
    {% set states = dbt.run_state('tables') %}
    {% if name in states %}
        {{ return(states[name]) }}
    {% endif %}
    {% if not adapter.is_there(relation) %}
        {% if flags.WHICH not in ('build', 'run', 'test') %}
            {{ return({'id': none, 'version': 0, 'properties': {}}) }}  {# compile, docs and lint work on an empty lake too #}
        {% endif %}
        {% set landed = graph.sources.values() | selectattr('schema', 'equalto', relation.schema)
            | selectattr('identifier', 'equalto', relation.identifier) | list %}
        {% do exceptions.raise_compiler_error(
            name ~ ' does not exist yet' ~ ('. Land it first: `tidemark land ' ~ relation.identifier ~ '`.'
            if landed else '. Build it first: `dbt build --select ' ~ relation.identifier ~ '`.')
        ) %}
    {% endif %}
    {% do states.update({name: dbt.by_format('table_state')(relation)}) %}
    {{ return(states[name]) }}
{% endmacro %}

{# Called after a write to a table whose state is known. Returns the commit. #}
{% macro note_commit(relation) %}
    {% set now = dbt.table_state(relation) %}
    {% set commit = dbt.last_commit(relation) %}
    {% if commit.parent == now.version %}
        {% do now.update(commits=[commit] + now.commits, version=commit.version) %}
    {% else %}
        {% do dbt.forget_table_state(relation) %}  {# another writer came between #}
    {% endif %}
    {{ return(commit) }}
{% endmacro %}

{# Called after a table was replaced or altered: the next reader reads its state again. #}
{% macro forget_table_state(relation) %}
    {% do dbt.run_state('tables').pop(dbt.table_name(relation), none) %}
{% endmacro %}
