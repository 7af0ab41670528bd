{% macro tidemark__delta_properties(is_partitioned=false) %}
    {% set properties = {'delta.enableChangeDataFeed': 'true'} %}
    {% if is_partitioned %}
        {# else each of Spark's tasks writes a file of its own into each partition #}
        {% do properties.update({'delta.autoOptimize.optimizeWrite': 'true'}) %}
    {% endif %}
    {{ return(properties) }}
{% endmacro %}

{# The setting whose value each commit carries. #}
{% macro tidemark__delta_signing() %}
    {{ return('spark.databricks.delta.commitInfo.userMetadata') }}
{% endmacro %}
