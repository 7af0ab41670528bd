{# Runs a model by dbt-spark's own materialization. It leaves no checkpoints: its table depends on its own runs. #}
{% macro run_as_stock() %}
    {% set before = dbt.run_state('before')[model.unique_id] %}
    {% do adapter.as_stock(config, dbt.table_format(), dbt.by_format('properties')(is_partitioned=config.get('partition_by'))) %}
    {% set relations = dbt.materialization_incremental_spark() %}
    {% do dbt.forget_table(this) %}
    {% set after = adapter.version_now(this) if dbt.is_of_lake(model) else none %}
    {% set commit = adapter.last_commit(this) if after != before else none %}
    {% do dbt.report_written({'commit': commit, 'written': commit.rows} if commit else {}) %}
    {{ return(relations) }}
{% endmacro %}
