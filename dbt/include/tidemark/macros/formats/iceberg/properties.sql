{# Changes are read from the changelog, which needs copy-on-write. #}
{% macro tidemark__iceberg_properties(is_partitioned=false) %}
    {{ return({
        'format-version': '2', 'write.merge.mode': 'copy-on-write', 'write.update.mode': 'copy-on-write',
        'write.delete.mode': 'copy-on-write'
    }) }}
{% endmacro %}

{# The setting whose value each snapshot carries in its summary, as `written-by`. #}
{% macro tidemark__iceberg_signing() %}
    {{ return('spark.sql.iceberg.snapshot-property.written-by') }}
{% endmacro %}
