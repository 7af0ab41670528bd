{# Creates or replaces the table with its constraints and its change data feed, in one commit. #}
{% macro create_from(relation, query) %}
    {% set create_sql %}
        create or replace table {{ relation }}
        using {{ config.get('file_format') }}
        {{ partition_cols(label='partitioned by') }}
        {{ comment_clause() }}
        tblproperties (
            {%- for name, value in tidemark.table_properties(model).items() %}
            '{{ name }}' = '{{ tidemark.escaped(value) }}'{{ ',' if not loop.last }}
            {%- endfor %}
        )
        as
        select {{ query.columns | join(', ') }}
        from ({{ query.sql }})
        {{ 'where not _is_deleted' if query.flags_deletes }}
    {% endset %}
    {% do run_query(create_sql) %}
    {% set metrics = tidemark.last_commit(relation).metrics %}
    {% do tidemark.say_written(inserted=metrics.get('numOutputRows', 0) | int) %}
{% endmacro %}
