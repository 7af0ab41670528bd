{# analyses/ops_schema.sql tells Python the same schema. #}
{% macro tidemark__ops_table(name) %}
    {{ return(api.Relation.create(schema=generate_schema_name('ops', none), identifier=name)) }}
{% endmacro %}
