{# dbt's own materialization. dbt-spark's wants `file_format: delta` in each config, and clones a table onto itself. #}
{% materialization clone, adapter='tidemark' %}
    {{ return(dbt.materialization_clone_default()) }}
{% endmaterialization %}

{# On Iceberg, a clone is a view of the other table. #}
{% macro tidemark__can_clone_table() %}
    {{ return(dbt.table_format() == 'delta') }}
{% endmacro %}

{# By default, Delta does not clone into a table that has rows. #}
{% macro tidemark__create_or_replace_clone(this_relation, defer_relation) %}
    {% do run_query('set spark.databricks.delta.clone.replaceEnabled = true') %}
    create or replace table {{ this_relation }} shallow clone {{ defer_relation }}
{% endmacro %}
