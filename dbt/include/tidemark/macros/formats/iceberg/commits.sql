{# The snapshots from the current one back to the oldest that is kept, newest first. #}
{% macro iceberg_commits(relation, limit=none) %}
    {% set snapshots = {} %}
    {% set at = namespace(version=none) %}
    {% for row in run_query(
        'select snapshot_id, parent_id, operation, committed_at, summary, '
        ~ "(select max(snapshot_id) from " ~ relation ~ ".refs where name = 'main') as present_id from " ~ relation ~ '.snapshots'
    ) %}
        {% do snapshots.update({row['snapshot_id'] | int: row}) %}
        {% set at.version = row['present_id'] | int %}
    {% endfor %}
    {% set commits = [] %}
    {% for _ in snapshots if at.version in snapshots and (limit is none or commits | length < limit) %}
        {% set commit = dbt.iceberg_commit(snapshots[at.version]) %}
        {% do commits.append(commit) %}
        {% set at.version = commit.parent %}
    {% endfor %}
    {{ return(commits) }}
{% endmacro %}

{% macro iceberg_commit(row) %}
    {% set summary = fromjson(row['summary']) if row['summary'] is string else dict(row['summary']) %}
    {# a compaction rewrites rows that were there before #}
    {% set added = {} if row['operation'] == 'replace' else summary %}
    {{ return({
        'version': row['snapshot_id'] | int, 'parent': row['parent_id'] | int if row['parent_id'] is not none else 0,
        'operation': row['operation'], 'at': row['committed_at'],
        'keeps_rows': row['operation'] == 'replace', 'adds_rows': row['operation'] == 'append',
        'tells_net_changes': true,
        'is_foreign': row['operation'] != 'replace' and summary.get('written-by') != dbt.signature() if adapter.has_one_session()
            else row['operation'] in ('delete', 'overwrite'),
        'rows': added.get('added-records', 0) | int, 'deleted': added.get('deleted-records', 0) | int,
        'bytes': added.get('added-files-size', 0) | int, 'files': added.get('added-data-files', 0) | int,
        'total_bytes': summary.get('total-files-size', 0) | int, 'total_files': summary.get('total-data-files', 0) | int
    }) }}
{% endmacro %}

{% macro iceberg_goes_back_to_the_start(commits) %}
    {{ return(dbt.has_first(commits)) }}
{% endmacro %}
