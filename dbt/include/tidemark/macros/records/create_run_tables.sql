{# One row per command, so that its checkpoints and its run record are one commit. #}
{% macro run_columns() %}
    {% set counts = [] %}
    {% for name in ('models_written', 'models_unchanged', 'models_failed', 'models_skipped', 'tests_passed', 'tests_failed') %}
        {% do counts.append(name ~ ' int') %}
    {% endfor %}
    {{ return([
        'invocation_id string', 'command string', 'started_at timestamp', 'ended_at timestamp', 'succeeded boolean'
    ] + counts + [
        'model_runs array<struct<' ~ [
            'model: string', 'status: string', 'state: string', 'reads: array<string>', 'rows_read: bigint',
            'rows_inserted: bigint', 'rows_updated: bigint', 'rows_deleted: bigint', 'rows_unchanged: bigint',
            'rows_superseded: bigint', 'rows_rejected: bigint', 'bytes_read: bigint', 'files_read: bigint',
            'bytes_written: bigint', 'files_written: bigint', 'table_version: bigint', 'seconds: double', 'message: string'
        ] | join(', ') ~ '>>',
        'checkpoints array<struct<' ~ [
            'model: string', 'source: string', 'source_id: string', 'version: bigint', 'watermark: string',
            'table_version: bigint', 'table_id: string', 'contract: string', 'sequence: bigint'
        ] | join(', ') ~ '>>',
        'git_commit string', 'git_is_dirty boolean', 'locks map<string, string>', 'dbt_version string',
        'tidemark_version string', 'target string', 'vars string', 'failed_tests array<string>',
        'tables_written array<struct<table: string, table_id: string, version_before: bigint, version: bigint>>',
        'undone_runs array<string>', 'failed_audits array<struct<model: string, test: string, failures: bigint, batch: string>>'
    ]) }}
{% endmacro %}

{# Before the first node. The views show the arrays of `ops.runs` as rows. #}
{% macro create_run_tables() %}
    {% if execute and not adapter.reads_past() and flags.WHICH in ('build', 'run', 'test', 'seed', 'snapshot') %}
        {% do dbt.lock_selected_tables() %}
        {% do dbt.sign_commits() %}
        {% set runs = dbt.ops_table('runs') %}
        {% set locked = adapter.lock_state(dbt.table_name(runs)) %}
        {% do dbt.create_ops_table(runs, dbt.run_columns()) %}
        {% do dbt.create_ops_view('model_runs', 'select invocation_id, started_at, inline(model_runs) from ' ~ runs) %}
        {% do dbt.create_ops_view(
            'checkpoints', 'select invocation_id, started_at as recorded_at, inline(checkpoints) from ' ~ runs
        ) %}
        {% do adapter.unlock_tables(locked) %}
        {% do dbt.note_versions_before() %}
        {% if flags.WHICH in ('build', 'run', 'test') %}
            {% do dbt.checkpoints() %}  {# before several threads ask for them at once #}
        {% endif %}
    {% endif %}
{% endmacro %}
