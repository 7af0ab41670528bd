{# Id and latest version of a Delta table. A landed table is looked at once a run, so that all its readers see the same. #}
{% macro table_state(relation) %}
    {% set name = tidemark.table_name(relation) %}
    {% set landed = graph.sources.values() | selectattr('schema', 'equalto', relation.schema)
        | selectattr('identifier', 'equalto', relation.identifier) | list | length > 0 %}
    {% set states = tidemark.run_state('landed') %}
    {% if name in states %}
        {{ return(states[name]) }}
    {% endif %}
    {% if load_relation(relation) is none %}
        {% if flags.WHICH not in ('build', 'run', 'test') %}
            {{ return({'id': none, 'version': 0}) }}  {# compile, docs and lint work on an empty lake too #}
        {% endif %}
        {% do exceptions.raise_compiler_error(
            name ~ ' does not exist yet' ~ ('. Land it first: `tidemark land ' ~ relation.identifier ~ '`.'
            if landed else '. Build it first: `dbt build --select ' ~ relation.identifier ~ '`.')
        ) %}
    {% endif %}
    {% set state = {
        'id': run_query('describe detail ' ~ relation).columns['id'].values()[0],
        'version': run_query('describe history ' ~ relation ~ ' limit 1').columns['version'].values()[0] | int
    } %}
    {% if landed %}
        {% do states.update({name: state}) %}
    {% endif %}
    {{ return(state) }}
{% endmacro %}
