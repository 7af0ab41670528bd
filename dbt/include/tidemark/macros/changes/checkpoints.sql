{# The current checkpoint of a reader (a table's name or a test's id) on a source, or none. All are read once per command. #}
{% macro checkpoint(reader, source) %}
    {% set name = reader if reader is string else dbt.table_name(reader) %}
    {{ return(dbt.checkpoints().get(name ~ ' < ' ~ source)) }}
{% endmacro %}

{% macro checkpoints() %}
    {% set state = dbt.run_state('checkpoints') %}
    {% if 'marks' not in state %}
        {% set marks, sequences, sources = {}, {}, {} %}
        {% if adapter.is_there(dbt.ops_table('runs')) %}
            {% for row in run_query(
                'select newest.started_at as recorded_at, newest.mark.* from ('
                ~ 'select max_by(struct(started_at, mark), mark.sequence) as newest from '
                ~ '(select /*+ coalesce(1) */ started_at, explode(checkpoints) as mark from ' ~ dbt.ops_table('runs')
                ~ (' where unix_micros(ended_at) <= ' ~ adapter.past_end() if adapter.reads_past() else '') ~ ') '
                ~ 'group by mark.model, mark.source)'
            ) %}
                {% do sequences.update({row['model'] ~ ' < ' ~ row['source']: row['sequence'] | int}) %}
                {% if row['source_id'] is not none %}  {# else `tidemark undo` took the first one back #}
                {% do marks.update({row['model'] ~ ' < ' ~ row['source']: {
                    'source_id': row['source_id'],
                    'version': row['version'] | int if row['version'] is not none else none,
                    'watermark': row['watermark'],
                    'table_version': row['table_version'] | int if row['table_version'] is not none else none,
                    'table_id': row['table_id'],
                    'contract': row['contract'],
                    'recorded_at': row['recorded_at'] | string
                }}) %}
                {% do sources.setdefault(row['model'], []).append(row['source']) %}
                {% endif %}
            {% endfor %}
        {% endif %}
        {% do state.update(marks=marks, sequences=sequences, sources=sources) %}
    {% endif %}
    {{ return(state.marks) }}
{% endmacro %}

{# The sequence of the last record of a reader on a source; 0 if there is none. #}
{% macro last_sequence(reader, source) %}
    {% do dbt.checkpoints() %}
    {{ return(dbt.run_state('checkpoints').sequences.get(reader ~ ' < ' ~ source, 0)) }}
{% endmacro %}

{# The new checkpoints: of the models that succeeded and read something, and of the tests that passed. #}
{% macro moved_checkpoints(results) %}
    {% set moved = [] %}
    {% for result in results if result.status in ('success', 'pass') and result.node.resource_type in ('model', 'test')
        and result.node.unique_id not in dbt.run_state('let_pass') %}
        {% set node = result.node %}
        {% set relation = dbt.relation_of(node) %}
        {% set reader = dbt.table_name(relation) if node.resource_type == 'model' else node.unique_id %}
        {% set contract = dbt.contract_of(node.unique_id) %}
        {% for window in dbt.windows_of(node.unique_id) %}
            {% set mark = dbt.checkpoint(reader, window.source) or {} %}
            {% if window.state != 'nothing new' or mark.contract != contract or mark.source_id != window.source_id
                or mark.version != window.last %}
                {% set table = dbt.table_after(node, relation, mark) %}
                {% set is_partly_rebuilt = node.unique_id in dbt.run_state('partly') %}
                {% do moved.append({
                    'model': reader, 'source': window.source, 'source_id': window.get('source_id'), 'version': window.last,
                    'watermark': window.get('watermark'), 'table_version': table.version, 'table_id': table.id,
                    'contract': mark.get('contract') if is_partly_rebuilt else contract, 'sequence': dbt.last_sequence(reader, window.source) + 1
                }) %}
            {% endif %}
        {% endfor %}
    {% endfor %}
    {{ return(moved) }}
{% endmacro %}
