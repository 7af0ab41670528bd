{# dbt-spark's materialization of tables, which ignores a sql_header. #}
{% materialization table, adapter='tidemark', supported_languages=['sql', 'python'] %}
    {% if model.language == 'python' %}  {# dbt runs Python for the materialization itself only #}
        {% call statement('main', language='python') %}{{ create_table_as(false, this, compiled_code, 'python') }}{% endcall %}
        {{ return({'relations': [this]}) }}
    {% endif %}
    {% set refused = adapter.refused_header(config.model.config) %}
    {% if refused %}
        {% do exceptions.raise_compiler_error(model.original_file_path ~ ': ' ~ refused) %}
    {% endif %}
    {% do dbt.tidemark__run_sql_header() %}
    {{ return(dbt.materialization_table_spark()) }}
{% endmaterialization %}

{# The header has run: Spark takes one statement at a time. #}
{% macro tidemark__get_empty_subquery_sql(select_sql, select_sql_header=none) %}
    {{ return(dbt.default__get_empty_subquery_sql(select_sql)) }}
{% endmacro %}
