{# Brings the stages up to date, and then the model's table from them. #}
{% macro tidemark__write_over_stages(relation, query, staged, plan) %}
    {% set changed = dbt.tidemark__read_state().changed | list %}
    {% do dbt.tidemark__note_incremental(plan.how) %}
    {% if not dbt.tidemark__keeps_columns() %}
        {% do dbt.tidemark__note_full('a source has other columns than at the last run') %}
        {{ return(dbt.tidemark__write_difference(relation, query)) }}
    {% endif %}
    {% set properties = dbt.tidemark__by_format('properties')() %}
    {% do properties.update(adapter.retention([])) %}
    {% set over = adapter.write_stages(staged, {
        'table': dbt.tidemark__table_name(this), 'request': dbt.tidemark__request_of(query, changed),
        'readings': dbt.tidemark__readings(), 'windows': dbt.tidemark__run_state('joined')[model.unique_id],
        'checkpoints': dbt.tidemark__checkpoints(), 'properties': properties,
        'as_of': dbt.tidemark__as_of, 'change_rows': dbt.tidemark__change_rows, 'views': dbt.tidemark__run_state('cached_views'),
        'view_name': dbt.tidemark__cached_view_name('{}')
    }) %}
    {% do dbt.tidemark__run_state('stages').update({model.unique_id: over.runs}) %}
    {% do dbt.tidemark__note_incremental(over.how) %}
    {% if over.plan is none %}
        {% do dbt.tidemark__report_written({}) %}
    {% elif over.plan.way == 'full' %}
        {% do dbt.tidemark__write_difference(relation, dict(query, sql=over.sql)) %}
    {% else %}
        {% do dbt.tidemark__write_plan(relation, query, over.plan, over.readings) %}
    {% endif %}
{% endmacro %}
