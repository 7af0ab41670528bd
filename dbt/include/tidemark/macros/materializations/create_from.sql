{# Creates or replaces the table with its constraints and its change data feed, in one commit. #}
{% macro create_from(relation, query) %}
    {% set new = dbt.writer(relation, query, is_new=true).new_rows() %}
    {% do dbt.audit(new.rows, new.rows, new.rows) %}
    {% set create_sql %}
        create or replace table {{ relation }}
        using {{ dbt.table_format() }}
        {{ options_clause() }}
        {{ partition_cols(label='partitioned by') }}
        {{ clustered_cols(label='clustered by') }}
        {{ location_clause() }}
        {{ comment_clause() }}
        tblproperties (
            {%- for name, value in dbt.table_properties(model).items() %}
            '{{ name }}' = '{{ dbt.escaped(value) }}'{{ ',' if not loop.last }}
            {%- endfor %}
        )
        as
        {{ new.checked }}
    {% endset %}
    {% do write(create_sql) %}  {# into target/run #}
    {% do run_query(create_sql) %}
    {% do dbt.forget_table(relation) %}
    {% set commit = adapter.last_commit(relation) %}
    {% do dbt.report_written({
        'inserted': commit.rows, 'commit': commit, 'once_a_key': query['keys'] != [], 'is_whole': adapter.is_embedded(),
        'sql': query.sql if query.counts_versions else none
    }) %}
{% endmacro %}
