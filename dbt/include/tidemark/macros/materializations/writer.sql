{# What prepares the changes of a table: tidemark/engine/adapter/writing.py. It runs the queries that compare; macros run the
   statement that it returns. #}
{% macro tidemark__writer(relation, query, is_new=false) %}
    {% set meta = config.get('meta', {}) %}
    {{ return(adapter.writer(relation, query, {
        'name': this.identifier, 'present': '' if is_new else dbt.tidemark__at_current_version(relation),
        'assertions': dbt.tidemark__by_format('assertions')(query),
        'partition_by': dbt.tidemark__as_list(config.get('partition_by')), 'overwrites': config.get('incremental_strategy') == 'insert_overwrite',
        'prune_by': meta.get('prune_by'), 'insert_only': meta.get('insert_only'), 'keeps_rows': dbt.tidemark__way_of(model).accumulates,
        'is_embedded': adapter.is_embedded(), 'views': dbt.tidemark__run_state('cached_views'), 'view_name': dbt.tidemark__cached_view_name('{}')
    })) }}
{% endmacro %}
