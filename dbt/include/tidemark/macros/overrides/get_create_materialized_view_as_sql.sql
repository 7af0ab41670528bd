{# Spark has no materialized views. #}
{% macro tidemark__get_create_materialized_view_as_sql(relation, sql) %}
    {% do exceptions.raise_compiler_error(
        model.original_file_path ~ ': materialized is materialized_view, which Spark does not have. Use incremental: its table equals the query, and a run '
        ~ 'reads only what changed.'
    ) %}
{% endmacro %}
