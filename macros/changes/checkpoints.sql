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
            'create or replace table ' ~ table ~ " using delta tblproperties ('delta.autoOptimize.autoCompact' = 'true') as "
            ~ 'select record.* from (select from_json(null, ' ~ tidemark.literal(columns | join(', ')) ~ ') as record) where false'
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
            'table_version bigint', 'contract string', 'sequence bigint', 'invocation_id string', 'recorded_at timestamp'
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
                    'contract': row['contract'],
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
    {% for result in results if result.status in ('success', 'pass') and result.node.resource_type in ('model', 'test') %}
        {% set node = result.node %}
        {% set relation = api.Relation.create(schema=node.schema, identifier=node.alias) %}
        {% set reader = tidemark.table_name(relation) if node.resource_type == 'model' else node.unique_id %}
        {% set contract = tidemark.contract_of(node.unique_id) %}
        {% for window in tidemark.run_state('windows').get(node.unique_id, {}).values() %}
            {% set mark = tidemark.checkpoint(reader, window.source) or {'sequence': 0} %}
            {% if window.state != 'nothing new' or mark.contract != contract %}
                {% do rows.append('(' ~ [
                    tidemark.literal(reader), tidemark.literal(window.source), tidemark.literal(window.get('source_id')),
                    window.last if window.last is not none else 'null', tidemark.literal(window.get('watermark')),
                    tidemark.version_after(node, relation, mark), tidemark.literal(contract), mark.sequence + 1,
                    tidemark.literal(invocation_id), "timestamp '" ~ run_started_at.isoformat() ~ "'"
                ] | join(', ') ~ ')') %}
            {% endif %}
        {% endfor %}
    {% endfor %}
    {% if rows %}
        {% do run_query(
            'insert into ' ~ tidemark.ops_table('checkpoints') ~ ' (model, source, source_id, version, watermark, '
            ~ 'table_version, contract, sequence, invocation_id, recorded_at) values ' ~ rows | join(', ')
        ) %}
    {% endif %}
{% endmacro %}

{# The model's own version that goes with its marks, as SQL. #}
{% macro version_after(node, relation, mark) %}
    {% set written = tidemark.run_state('written').get(node.unique_id, {}).get('version') %}
    {% set seen = tidemark.run_state('tables').get(tidemark.table_name(relation), {}).get('version') %}
    {% for version in [written, seen, mark.table_version] if version is not none and version is not undefined %}
        {{ return(version) }}
    {% endfor %}
    {{ return('null') }}
{% endmacro %}

{# True when the model's table has another version than its checkpoint says: a run was cut off after it had written. #}
{% macro is_written_since_checkpoint() %}
    {% set now = tidemark.table_state(this) %}
    {% for node in tidemark.dependencies(model) %}
        {% set mark = tidemark.checkpoint(this, node.schema ~ '.' ~ (node.get('alias') or node.identifier)) %}
        {% if mark and mark.table_version != now.version %}
            {% if mark.table_version is none or mark.table_version > now.version %}
                {{ return(true) }}
            {% endif %}
            {% for commit in tidemark.commits_since(this, mark.table_version)
                if commit.operation not in ('OPTIMIZE', 'VACUUM START', 'VACUUM END', 'SET TBLPROPERTIES', 'CHANGE COLUMN', 'CHANGE COLUMNS') %}
                {{ return(true) }}
            {% endfor %}
        {% endif %}
    {% endfor %}
    {{ return(false) }}
{% endmacro %}
