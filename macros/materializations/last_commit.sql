{# Version and operation metrics of a Delta table's newest commit. #}
{% macro last_commit(relation) %}
    {% set row = run_query('describe history ' ~ relation ~ ' limit 1').rows[0] %}
    {% set metrics = row['operationMetrics'] %}
    {{ return({'version': row['version'] | int, 'metrics': fromjson(metrics) if metrics is string else metrics or {}}) }}
{% endmacro %}
