{# Creates or replaces the table with its constraints and its change data feed, in one commit. #}
{% macro tidemark__create_from(relation, query) %}
    {% set new = dbt.tidemark__writer(relation, query, is_new=true).new_rows() %}
    {% do dbt.tidemark__audit(new.rows, new.rows, new.rows) %}
    {% set create_sql %}
        create or replace table {{ relation }}
        using {{ dbt.tidemark__table_format() }}
        {{ options_clause() }}
        {{ partition_cols(label='partitioned by') }}
        {{ clustered_cols(label='clustered by') }}
        {{ location_clause() }}
        {{ comment_clause() }}
        tblproperties (
            {%- for name, value in dbt.tidemark__table_properties(model).items() %}
            '{{ name }}' = '{{ dbt.tidemark__escaped(value) }}'{{ ',' if not loop.last }}
            {%- endfor %}
        )
        as
        {{ new.checked }}
    {% endset %}
    {% do write(create_sql) %}  {# into target/run #}
    {% do run_query(create_sql) %}
    {% do dbt.tidemark__forget_table(relation) %}
    {% set commit = adapter.last_commit(relation) %}
    {% do dbt.tidemark__report_written({
        'inserted': commit.rows, 'commit': commit, 'once_a_key': query['keys'] != [], 'is_whole': adapter.is_embedded(),
        'sql': query.sql if query.counts_versions else none
    }) %}
{% endmacro %}
