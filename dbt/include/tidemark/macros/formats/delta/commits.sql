{# The newest commits of a Delta table, newest first. #}
{% macro delta_commits(relation, limit) %}
    {% set harmless = ('OPTIMIZE', 'VACUUM START', 'VACUUM END', 'CLUSTER BY', 'SET TBLPROPERTIES', 'CHANGE COLUMN', 'CHANGE COLUMNS') %}
    {% set commits = [] %}
    {% set log = adapter.delta_log(dbt.table_name(relation)) %}
    {% set rows = log.commits(limit) if log else run_query('describe history ' ~ relation ~ ' limit ' ~ limit) %}
    {% for row in rows %}
        {% set commit = {
            'version': row['version'] | int, 'parent': row['version'] | int - 1, 'operation': row['operation'], 'at': row['timestamp'],
            'parameters': adapter.map_of(row['operationParameters']),
            'keeps_rows': row['operation'] in harmless,
            'is_foreign': dbt.delta_is_foreign(row['operation'] or '', row['userMetadata'])
        } %}
        {% do commits.append(dict(commit, **dbt.delta_metrics(commit, adapter.map_of(row['operationMetrics'])))) %}
    {% endfor %}
    {{ return(commits) }}
{% endmacro %}

{# True for a commit of rows that no run made. If runs do not sign their commits: true for a kind of commit that runs never make. #}
{% macro delta_is_foreign(operation, signed) %}
    {% set by_hand = ('DELETE', 'UPDATE', 'RESTORE', 'TRUNCATE') %}
    {% set by_anyone = ('WRITE', 'MERGE', 'CREATE', 'REPLACE', 'STREAMING', 'COPY', 'CLONE') %}
    {% if adapter.has_one_session() %}
        {{ return(operation.split(' ')[0] in by_hand + by_anyone and signed != dbt.signature()) }}
    {% endif %}
    {{ return(operation in by_hand) }}
{% endmacro %}

{# Delta's metrics under common names: a merge and a plain write use different ones. #}
{% macro delta_metrics(commit, metrics) %}
    {% set merged = (metrics.get('numTargetRowsInserted', 0) | int) + (metrics.get('numTargetRowsUpdated', 0) | int)
        + (metrics.get('numTargetRowsDeleted', 0) | int) %}
    {% set overwritten = metrics.get('numDeletedRows', 1) | int if dbt.delta_overwrites(commit) else 0 %}
    {{ return({
        'rows': merged if 'numTargetRowsInserted' in metrics else metrics.get('numOutputRows', 0) | int,
        'deleted': metrics.get('numDeletedRows', 0) | int,
        'deletes': overwritten or metrics.get('numTargetRowsDeleted', 0) | int > 0,
        'bytes': metrics.get('numTargetBytesAdded', metrics.get('numOutputBytes', 0)) | int,
        'files': metrics.get('numTargetFilesAdded', metrics.get('numFiles', metrics.get('numAddedFiles', 0))) | int
    }) }}
{% endmacro %}

{# True for a commit other than a MERGE that may delete rows. #}
{% macro delta_overwrites(commit) %}
    {{ return(commit.operation in ('DELETE', 'RESTORE', 'TRUNCATE') or commit.parameters.get('mode') == 'Overwrite') }}
{% endmacro %}
