{# The newest commits of a Delta table, newest first: version, operation, its parameters and metrics, time. #}
{% macro history(relation, limit) %}
    {% set commits = [] %}
    {% for row in run_query('describe history ' ~ relation ~ ' limit ' ~ limit) %}
        {% set parameters = row['operationParameters'] %}
        {% set metrics = row['operationMetrics'] %}
        {% do commits.append({
            'version': row['version'] | int, 'operation': row['operation'], 'at': row['timestamp'],
            'parameters': fromjson(parameters) if parameters is string else parameters or {},
            'metrics': fromjson(metrics) if metrics is string else metrics or {}
        }) %}
    {% endfor %}
    {{ return(commits) }}
{% endmacro %}

{% macro last_commit(relation) %}
    {{ return(tidemark.history(relation, 1)[0]) }}
{% endmacro %}

{# The commits of a table after a version, newest first: from what table_state has seen, or read once more when that is too short. #}
{% macro commits_since(relation, version) %}
    {% set now = tidemark.table_state(relation) %}
    {% if now.commits | length < now.version - version %}
        {% do now.update(commits=tidemark.history(relation, now.version - version) | selectattr('version', 'le', now.version) | list) %}
    {% endif %}
    {{ return(now.commits | selectattr('version', 'gt', version) | list) }}
{% endmacro %}
