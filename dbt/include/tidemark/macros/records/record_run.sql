{# On-run-end: one commit. A command that read nothing and in which nothing failed leaves no record. #}
{% macro record_run(results) %}
    {% if not execute or flags.WHICH not in ('build', 'run', 'test', 'seed', 'snapshot') %}{{ return('') }}{% endif %}
    {% set checkpoints = dbt.moved_checkpoints(results) %}
    {% set rows = [] %}
    {% for result in results if result.node.resource_type == 'model' and result.status in ('success', 'error') %}
        {% set state = dbt.state_of_run(result) %}
        {% if state != 'nothing new' %}
            {% do rows.append(dbt.model_run_row(result, state)) %}
        {% endif %}
    {% endfor %}
    {% set failed = results | selectattr('status', 'in', ('error', 'fail', 'runtime error')) | list %}
    {% if rows or checkpoints or failed %}
        {% set run = dbt.run_row(results, failed) %}
        {% do run.update(model_runs=rows, checkpoints=checkpoints) %}
        {% do dbt.insert_record(dbt.ops_table('runs'), dbt.run_columns(), run) %}
    {% endif %}
    {% do dbt.let_all_go() %}
    {% do dbt.stop_signing() %}
{% endmacro %}

{% macro state_of_run(result) %}
    {% set states = dbt.window_states(result.node) | reject('equalto', 'nothing new') | list %}
    {{ return(states | first if states else 'nothing new' if result.status == 'success' else 'not read') }}
{% endmacro %}

{% macro run_row(results, failed) %}
    {% set models = results | selectattr('node.resource_type', 'equalto', 'model') | list %}
    {% set tests = results | selectattr('node.resource_type', 'in', ('test', 'unit_test')) | list %}
    {% set written = namespace(count=0) %}
    {% for result in models if dbt.run_state('written').get(result.node.unique_id, {}).get('version') is not none and result.status == 'success' %}
        {% set written.count = written.count + 1 %}
    {% endfor %}
    {% set succeeded = models | selectattr('status', 'equalto', 'success') | list | length %}
    {{ return({
        'invocation_id': invocation_id, 'command': flags.WHICH,
        'started_at': run_started_at.isoformat(), 'ended_at': modules.datetime.datetime.now(modules.pytz.utc).isoformat(),
        'succeeded': not failed, 'models_written': written.count, 'models_unchanged': succeeded - written.count,
        'models_failed': models | selectattr('status', 'equalto', 'error') | list | length,
        'models_skipped': models | selectattr('status', 'equalto', 'skipped') | list | length,
        'tests_passed': tests | selectattr('status', 'equalto', 'pass') | list | length,
        'tests_failed': tests | selectattr('status', 'in', ('fail', 'error')) | list | length
    }) }}
{% endmacro %}

{% macro model_run_row(result, state) %}
    {% set node = result.node %}
    {% set relation = dbt.relation_of(node) %}
    {% set wrote = dbt.run_state('written').get(node.unique_id, {}) %}
    {% set row = {
        'model': dbt.table_name(relation), 'status': result.status | string, 'state': state,
        'reads': [], 'rows_read': 0, 'bytes_read': 0, 'files_read': 0, 'seconds': result.execution_time,
        'rows_rejected': dbt.rejected_rows(node), 'table_version': wrote.get('version'),
        'message': (result.message | string)[:500] if result.status == 'error' else none
    } %}
    {% for outcome in ('inserted', 'updated', 'deleted', 'unchanged', 'superseded') %}
        {% do row.update({'rows_' ~ outcome: wrote.get(outcome, 0) if wrote else none}) %}
    {% endfor %}
    {% set windows = dbt.windows_of(node.unique_id) if dbt.is_plain(node) else dbt.run_state('windows').get(node.unique_id, {}).values() %}
    {% for window in windows %}
        {% do row['reads'].append(window.source ~ ' ' ~ window.said) %}
        {% set metrics = dbt.read_metrics(dbt.relation_named(window.source), window) if result.status == 'success' else {} %}
        {% for name in ('rows', 'bytes', 'files') %}
            {% do row.update({name ~ '_read': row[name ~ '_read'] + metrics.get(name, 0) if metrics.get(name, 0) is not none and row[name ~ '_read'] is not none else none}) %}
        {% endfor %}
    {% endfor %}
    {% if wrote.get('sql') %}
        {% do row.update(rows_superseded=dbt.superseded_by_whole(row, wrote)) %}
    {% endif %}
    {% set written = wrote.get('commit') or {} %}
    {% do row.update(bytes_written=written.get('bytes', 0), files_written=written.get('files', 0)) %}
    {{ return(row) }}
{% endmacro %}

{# A table that is written in full has no outcome for each landed row. The superseded rows are the versions that its SQL
   counts minus the newest versions. If no row_balance test counted the versions, the rows read are used instead. #}
{% macro superseded_by_whole(row, wrote) %}
    {% set versions = wrote.get('versions') %}
    {% if versions is none and row.rows_read is not none %}
        {% set versions = row.rows_read - (row.rows_rejected or 0) %}
    {% endif %}
    {{ return(versions - row.rows_inserted if versions is not none else none) }}
{% endmacro %}

{# The number of rows that the model `rejected_<name>` rejected in this command, for the model `<name>` with the same source. #}
{% macro rejected_rows(node) %}
    {% for other in graph.nodes.values() if other.resource_type == 'model' and other.alias == 'rejected_' ~ node.alias and other.schema == node.schema %}
        {{ return(dbt.accounted_rows(other.unique_id)) }}
    {% endfor %}
    {{ return(none) }}
{% endmacro %}
