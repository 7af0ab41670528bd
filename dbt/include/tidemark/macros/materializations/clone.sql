{# dbt's own materialization. dbt-spark's wants `file_format: delta` in each config, and clones a table onto itself. #}
{% materialization clone, adapter='tidemark' %}
    {{ return(dbt.materialization_clone_default()) }}
{% endmaterialization %}

{# On Iceberg, a clone is a view of the other table. #}
{% macro tidemark__can_clone_table() %}
    {{ return(dbt.table_format() == 'delta') }}
{% endmacro %}

{# Delta does not clone into a table that has rows. #}
{% macro tidemark__create_or_replace_clone(this_relation, defer_relation) %}
    {% if adapter.is_there(this_relation) %}
        {% do run_query('delete from ' ~ this_relation) %}
    {% endif %}
    create or replace table {{ this_relation }} shallow clone {{ defer_relation }}
{% endmacro %}
