{# Runs a model by dbt-spark's own materialization. It leaves no checkpoints: its table depends on its own runs. #}
{% macro tidemark__run_as_stock() %}
    {% set before = dbt.tidemark__run_state('before')[model.unique_id] %}
    {% do adapter.as_stock(config, dbt.tidemark__table_format(), dbt.tidemark__by_format('properties')(is_partitioned=config.get('partition_by'))) %}
    {% set relations = dbt.materialization_incremental_spark() %}
    {% do dbt.tidemark__forget_table(this) %}
    {% set after = adapter.version_now(this) if dbt.tidemark__is_of_lake(model) else none %}
    {% set commit = adapter.last_commit(this) if after != before else none %}
    {% do dbt.tidemark__report_written({'commit': commit, 'written': commit.rows} if commit else {}) %}
    {{ return(relations) }}
{% endmacro %}
