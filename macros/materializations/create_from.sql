{# Creates or replaces the table with its constraints and its change data feed, in one commit. #}
{% macro create_from(relation, query) %}
    {% set create_sql %}
        create or replace table {{ relation }}
        using {{ tidemark.table_format() }}
        {{ partition_cols(label='partitioned by') }}
        {{ comment_clause() }}
        tblproperties (
            {%- for name, value in tidemark.table_properties(model).items() %}
            '{{ name }}' = '{{ tidemark.escaped(value) }}'{{ ',' if not loop.last }}
            {%- endfor %}
        )
        as
        select {{ tidemark.quoted(query.columns) }}
        from ({{ tidemark.once_a_key(query) }}) as incoming
        where
            {{ 'not _is_deleted' if query.flags_deletes else 'true' }}
            {{ tidemark.and_determined(query) }}
            {{ tidemark.and_rows_hold(query) }}
    {% endset %}
    {% do run_query(create_sql) %}
    {% do tidemark.forget_table_state(relation) %}
    {% set commit = tidemark.last_commit(relation) %}
    {% do tidemark.say_written({
        'inserted': commit.rows, 'commit': commit, 'once_a_key': true, 'is_whole': adapter.is_embedded(),
        'sql': query.sql if query.counts_versions else none
    }) %}
{% endmacro %}
