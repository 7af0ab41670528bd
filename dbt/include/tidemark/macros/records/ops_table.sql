{# analyses/ops_schema.sql tells Python the same schema. #}
{% macro ops_table(name) %}
    {{ return(api.Relation.create(schema=generate_schema_name('ops', none), identifier=name)) }}
{% endmacro %}

{# Creates a state table, or adds the columns that a table of an earlier Tidemark version lacks. #}
{% macro create_ops_table(table, columns) %}
    {% if not adapter.is_there(table) %}  {# dbt's cache is for the tables of the project #}
        {% do run_query('create schema if not exists ' ~ table.schema) %}
        {# not from a list of columns: where a killed run left its folder, Delta refuses that for ever #}
        {% do run_query(
            'create or replace table ' ~ table ~ ' using ' ~ dbt.table_format()
            ~ (" tblproperties ('delta.autoOptimize.autoCompact' = 'true', 'delta.checkpointInterval' = '20')" if dbt.table_format() == 'delta' else '')
            ~ ' as select record.* from (select from_json(null, ' ~ dbt.literal(columns | join(', ')) ~ ') as record) where false'
        ) %}
    {% else %}
        {% set present = dbt.columns_of(table) %}
        {% set missing = [] %}
        {% for column in columns if column.split(' ')[0] not in present %}
            {% do missing.append(column) %}
        {% endfor %}
        {% if missing %}
            {% do run_query('alter table ' ~ table ~ ' add columns (' ~ missing | join(', ') ~ ')') %}
        {% endif %}
    {% endif %}
{% endmacro %}

{% macro create_ops_view(name, query) %}
    {% set view = dbt.ops_table(name) %}
    {% if not adapter.is_there(view) %}
        {% do run_query('create view if not exists ' ~ view ~ ' as ' ~ query) %}
    {% elif adapter.is_a_table(view) %}
        {% do exceptions.raise_compiler_error(
            view ~ ' is a table of an earlier version of Tidemark; it is now a view of ' ~ dbt.ops_table('runs') ~ '. '
            ~ 'Drop it (`drop table ' ~ view ~ '`). The next run then reads the sources of all models whole, once.'
        ) %}
    {% endif %}
{% endmacro %}

{# Inserts one row as one JSON text. #}
{% macro insert_record(table, columns, record) %}
    {% set names = [] %}
    {% for column in columns %}
        {% do names.append(column.split(' ')[0]) %}
    {% endfor %}
    {% do run_query(
        'insert into ' ~ table ~ ' (' ~ names | join(', ') ~ ') select record.* from (select from_json('
        ~ dbt.literal(tojson(record)) ~ ', ' ~ dbt.literal(columns | join(', ')) ~ ", map('mode', 'FAILFAST')) as record)"
    ) %}
{% endmacro %}
