{# The column whose partitions are replaced as a whole, or an empty text. #}
{% macro tidemark__replaced_partition() %}
    {% set partitions = dbt.tidemark__as_list(config.get('partition_by')) %}
    {{ return(partitions[0] if config.get('incremental_strategy') == 'insert_overwrite' and partitions | length == 1 else '') }}
{% endmacro %}
