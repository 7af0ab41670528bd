{# How many rows, bytes and files a window covers, from the source's own metrics; read whole, the table's. #}
{% macro read_metrics(relation, window) %}
    {% set total = {'rows': 0, 'bytes': 0, 'files': 0} %}
    {% if window.last is none or window.state == 'nothing new' %}
        {{ return(dict(total, rows=none) if window.last is none else total) }}
    {% elif window.state != 'incremental' %}
        {% set now = tidemark.table_state(relation) %}
        {% set rows = run_query('select count(*) as rows from ' ~ relation ~ ' version as of ' ~ window.last).rows[0]['rows'] | int %}
        {{ return({'rows': rows, 'bytes': now.bytes, 'files': now.files}) }}
    {% endif %}
    {% for commit in tidemark.commits_since(relation, window.first - 1) if commit.version <= window.last %}
        {% set written = tidemark.written_metrics(commit.metrics) %}
        {% for name in total %}
            {% do total.update({name: total[name] + written[name]}) %}
        {% endfor %}
    {% endfor %}
    {{ return(total) }}
{% endmacro %}

{# A commit's metrics under one name each: a merge and a plain write call them differently. #}
{% macro written_metrics(metrics) %}
    {% set merged = (metrics.get('numTargetRowsInserted', 0) | int) + (metrics.get('numTargetRowsUpdated', 0) | int)
        + (metrics.get('numTargetRowsDeleted', 0) | int) %}
    {{ return({
        'rows': merged if 'numTargetRowsInserted' in metrics else metrics.get('numOutputRows', 0) | int,
        'bytes': metrics.get('numTargetBytesAdded', metrics.get('numOutputBytes', 0)) | int,
        'files': metrics.get('numTargetFilesAdded', metrics.get('numFiles', metrics.get('numAddedFiles', 0))) | int
    }) }}
{% endmacro %}
