{# After the last node: one commit. A command that read nothing and in which nothing failed leaves no record. #}
{% macro tidemark__record_run(results) %}
    {% if not execute or adapter.reads_past() or flags.WHICH not in ('build', 'run', 'test', 'seed', 'snapshot') %}
        {{ return('') }}
    {% endif %}
    {% set checkpoints = dbt.tidemark__moved_checkpoints(results) %}
    {% set rows = [] %}
    {% for result in results if result.node.resource_type == 'model' and result.status in ('success', 'error') %}
        {% set state = dbt.tidemark__state_of_run(result) %}
        {% if state != 'nothing new' %}
            {% do rows.append(dbt.tidemark__model_run_row(result, state)) %}
        {% endif %}
    {% endfor %}
    {% set failed = results | selectattr('status', 'in', ('error', 'fail', 'runtime error')) | list %}
    {% for result in results if result.status == 'skipped' and 'in referenced ephemeral model' in (result.message or '') %}
        {% if not failed | map(attribute='node.unique_id') | select('in', result.node.depends_on.nodes) | list %}
            {% do failed.append(result) %}  {# dbt skips it, as a part of its own SQL has an error #}
        {% endif %}
    {% endfor %}
    {% set tables = dbt.tidemark__tables_written(results) %}
    {% if (rows or checkpoints or failed or tables) and not var('rebuild_plan', false) %}
        {% set run = dbt.tidemark__run_row(results, failed) %}
        {% do run.update(model_runs=rows, checkpoints=checkpoints, tables_written=tables) %}
        {% do adapter.record_run(dbt.tidemark__ops_table('runs'), run) %}
        {% do adapter.report_lineage(run, results) %}
    {% endif %}
    {% do dbt.tidemark__drop_cached_views() %}
    {% do dbt.tidemark__stop_signing() %}
{% endmacro %}

{% macro tidemark__state_of_run(result) %}
    {% set states = dbt.tidemark__window_states(result.node) | reject('equalto', 'nothing new') | list %}
    {{ return(states | first if states else 'nothing new' if result.status == 'success' else 'not read') }}
{% endmacro %}

{% macro tidemark__run_row(results, failed) %}
    {% set models = results | selectattr('node.resource_type', 'equalto', 'model') | list %}
    {% set tests = results | selectattr('node.resource_type', 'in', ('test', 'unit_test')) | list %}
    {% set written = namespace(count=0) %}
    {% for result in models if dbt.tidemark__run_state('written').get(result.node.unique_id, {}).get('version') is not none and result.status == 'success' %}
        {% set written.count = written.count + 1 %}
    {% endfor %}
    {% set succeeded = models | selectattr('status', 'equalto', 'success') | list | length %}
    {% set failed_tests = tests | selectattr('status', 'in', ('fail', 'error')) | list %}
    {{ return(dict(adapter.provenance(), **{
        'invocation_id': invocation_id, 'command': flags.WHICH,
        'started_at': run_started_at.isoformat(), 'ended_at': modules.datetime.datetime.now(modules.pytz.utc).isoformat(),
        'succeeded': not failed, 'models_written': written.count, 'models_unchanged': succeeded - written.count,
        'models_failed': failed | selectattr('node.resource_type', 'equalto', 'model') | list | length,
        'models_skipped': models | selectattr('status', 'equalto', 'skipped') | reject('in', failed) | list | length,
        'tests_passed': tests | selectattr('status', 'equalto', 'pass') | list | length,
        'tests_failed': failed_tests | length, 'failed_tests': failed_tests | map(attribute='node.unique_id') | list,
        'dbt_version': dbt_version, 'target': target.name, 'undone_runs': [], 'failed_audits': dbt.tidemark__failed_audits()
    })) }}
{% endmacro %}

{% macro tidemark__failed_audits() %}
    {% set rows = [] %}
    {% for unique_id, audit in dbt.tidemark__run_state('failed_audits').items() %}
        {% for name, count in audit.failures.items() %}
            {% do rows.append({
                'model': dbt.tidemark__table_name(dbt.tidemark__relation_of(graph.nodes[unique_id])), 'test': name, 'failures': count, 'batch': audit.batch
            }) %}
        {% endfor %}
    {% endfor %}
    {{ return(rows) }}
{% endmacro %}
