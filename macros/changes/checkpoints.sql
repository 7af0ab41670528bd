{% macro checkpoint_table() %}
    {{ return(api.Relation.create(schema=generate_schema_name('ops', none), identifier='checkpoints', type='table')) }}
{% endmacro %}

{% macro create_checkpoints() %}
    {% if execute and flags.WHICH in ('build', 'run', 'test', 'seed', 'snapshot') %}
        {% set table = tidemark.checkpoint_table() %}
        {% if load_relation(table) is none %}
            {% do run_query('create schema if not exists ' ~ table.schema) %}
            {% do run_query(
                'create table if not exists ' ~ table ~ ' (model string, source string, source_id string, '
                ~ 'version bigint, sequence bigint, invocation_id string, recorded_at timestamp) using delta'
            ) %}
        {% endif %}
    {% endif %}
{% endmacro %}

{# The present mark of a model on a source, or none. All marks are read once a command. #}
{% macro checkpoint(relation, source) %}
    {% set state = tidemark.run_state('checkpoints') %}
    {% if 'marks' not in state %}
        {% set marks = {} %}
        {% if load_relation(tidemark.checkpoint_table()) is not none %}
            {% for row in run_query(
                'select model, source, max(sequence) as sequence, max_by(source_id, sequence) as source_id, '
                ~ 'max_by(version, sequence) as version from ' ~ tidemark.checkpoint_table() ~ ' group by model, source'
            ) %}
                {% do marks.update({row['model'] ~ ' < ' ~ row['source']: {
                    'source_id': row['source_id'], 'version': row['version'] | int, 'sequence': row['sequence'] | int
                }}) %}
            {% endfor %}
        {% endif %}
        {% do state.update(marks=marks) %}
    {% endif %}
    {{ return(state.marks.get(tidemark.table_name(relation) ~ ' < ' ~ source)) }}
{% endmacro %}

{# One commit a command: the marks of the models that succeeded and read something. #}
{% macro record_checkpoints(results) %}
    {% if not execute %}{{ return('') }}{% endif %}
    {% set rows = [] %}
    {% for result in results if result.node.resource_type == 'model' and result.status == 'success' %}
        {% set relation = api.Relation.create(schema=result.node.schema, identifier=result.node.alias) %}
        {% for window in tidemark.run_state('windows').get(result.node.unique_id, {}).values()
            if window.state != 'nothing new' %}
            {% set mark = tidemark.checkpoint(relation, window.source) or {'sequence': 0} %}
            {% do rows.append(
                "('" ~ tidemark.table_name(relation) ~ "', '" ~ window.source ~ "', '" ~ window.source_id
                ~ "', " ~ window.last ~ ', ' ~ (mark.sequence + 1) ~ ", '" ~ invocation_id ~ "', timestamp '" ~ run_started_at.isoformat() ~ "')"
            ) %}
        {% endfor %}
    {% endfor %}
    {% if rows %}
        {% do run_query('insert into ' ~ tidemark.checkpoint_table() ~ ' values ' ~ rows | join(', ')) %}
    {% endif %}
{% endmacro %}
