{% macro ops_table(name) %}
    {{ return(api.Relation.create(schema=generate_schema_name('ops', none), identifier=name, type='table')) }}
{% endmacro %}

{# Creates a state table, or adds the columns that one of an earlier version lacks. #}
{% macro create_ops_table(name, columns) %}
    {% set table = tidemark.ops_table(name) %}
    {% if load_relation(table) is none %}
        {% do run_query('create schema if not exists ' ~ table.schema) %}
        {# not from a list of columns: where a killed run left its folder, Delta refuses that for ever #}
        {% do run_query(
            'create or replace table ' ~ table ~ ' using ' ~ tidemark.table_format()
            ~ (" tblproperties ('delta.autoOptimize.autoCompact' = 'true', 'delta.checkpointInterval' = '50')" if tidemark.table_format() == 'delta' else '')
            ~ ' as select record.* from (select from_json(null, ' ~ tidemark.literal(columns | join(', ')) ~ ') as record) where false'
        ) %}
    {% else %}
        {% set present = run_query('describe table ' ~ table).columns['col_name'].values() %}
        {% set missing = [] %}
        {% for column in columns if column.split(' ')[0] not in present %}
            {% do missing.append(column) %}
        {% endfor %}
        {% if missing %}
            {% do run_query('alter table ' ~ table ~ ' add columns (' ~ missing | join(', ') ~ ')') %}
        {% endif %}
    {% endif %}
{% endmacro %}

{% macro create_checkpoints() %}
    {% if execute and flags.WHICH in ('build', 'run', 'test', 'seed', 'snapshot') %}
        {% do tidemark.create_ops_table('checkpoints', [
            'model string', 'source string', 'source_id string', 'version bigint', 'watermark string',
            'table_version bigint', 'contract string', 'sequence bigint', 'invocation_id string', 'recorded_at timestamp',
            'table_id string'
        ]) %}
    {% endif %}
{% endmacro %}

{# The present mark of a reader (a table's name, or a test's id) on a source, or none. All are read once a command. #}
{% macro checkpoint(reader, source) %}
    {% set name = reader if reader is string else tidemark.table_name(reader) %}
    {{ return(tidemark.checkpoints().get(name ~ ' < ' ~ source)) }}
{% endmacro %}

{% macro checkpoints() %}
    {% set state = tidemark.run_state('checkpoints') %}
    {% if 'marks' not in state %}
        {% set marks = {} %}
        {% if load_relation(tidemark.ops_table('checkpoints')) is not none %}
            {% for row in run_query(
                'select mark.* from (select max_by(struct(*), sequence) as mark from '
                ~ tidemark.ops_table('checkpoints') ~ ' group by model, source)'
            ) %}
                {% do marks.update({row['model'] ~ ' < ' ~ row['source']: {
                    'source_id': row['source_id'],
                    'version': row['version'] | int if row['version'] is not none else none,
                    'watermark': row['watermark'],
                    'table_version': row['table_version'] | int if row['table_version'] is not none else none,
                    'table_id': row['table_id'],
                    'contract': row['contract'],
                    'recorded_at': row['recorded_at'] | string,
                    'sequence': row['sequence'] | int
                }}) %}
            {% endfor %}
        {% endif %}
        {% do state.update(marks=marks) %}
    {% endif %}
    {{ return(state.marks) }}
{% endmacro %}

{# On-run-end: one commit with the marks of the models that succeeded and read something, and of the tests that passed. #}
{% macro record_checkpoints(results) %}
    {% if not execute %}{{ return('') }}{% endif %}
    {% set rows = [] %}
    {% for result in results if result.status in ('success', 'pass') and result.node.resource_type in ('model', 'test')
        and result.node.unique_id not in tidemark.run_state('let_pass') %}
        {% set node = result.node %}
        {% set relation = tidemark.relation_of(node) %}
        {% set reader = tidemark.table_name(relation) if node.resource_type == 'model' else node.unique_id %}
        {% set contract = tidemark.contract_of(node.unique_id) %}
        {% for window in tidemark.windows_of(node.unique_id) %}
            {% set mark = tidemark.checkpoint(reader, window.source) or {'sequence': 0} %}
            {% if window.state != 'nothing new' or mark.contract != contract or mark.source_id != window.source_id
                or mark.version != window.last %}
                {% set table = tidemark.table_after(node, relation, mark) %}
                {% do rows.append('(' ~ [
                    tidemark.literal(reader), tidemark.literal(window.source), tidemark.literal(window.get('source_id')),
                    window.last if window.last is not none else 'null', tidemark.literal(window.get('watermark')),
                    table.version, tidemark.literal(contract), mark.sequence + 1, tidemark.literal(invocation_id),
                    "timestamp '" ~ run_started_at.isoformat() ~ "'", tidemark.literal(table.id)
                ] | join(', ') ~ ')') %}
            {% endif %}
        {% endfor %}
    {% endfor %}
    {% if rows %}
        {% do run_query(
            'insert into ' ~ tidemark.ops_table('checkpoints') ~ ' (model, source, source_id, version, watermark, '
            ~ 'table_version, contract, sequence, invocation_id, recorded_at, table_id) values ' ~ rows | join(', ')
        ) %}
    {% endif %}
{% endmacro %}
