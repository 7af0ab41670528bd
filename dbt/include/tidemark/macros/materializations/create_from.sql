{# Creates or replaces the table with its constraints and its change data feed, in one commit. #}
{% macro create_from(relation, query) %}
    {% set rows %}
        select
            {% for column in query.columns -%}
            {# else the table would keep the limit of char(n) or varchar(n), at which a later run would stop #}
            {% if column in query.limited %}concat({{ dbt.quoted(column) }}, '') as {% endif %}{{ dbt.quoted(column) }}{{ ',' if not loop.last }}
            {% endfor -%}
        from ({{ dbt.once_a_key(query) if query['keys'] else query.sql }}) as incoming
        where {{ 'not ' ~ query.flag if query.flag else 'true' }}
    {% endset %}
    {% do dbt.audit(rows, rows, rows) %}
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
        {{ dbt.checked_rows(query, rows ~ dbt.and_determined(query)) }}
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

{# Rows that stop the statement where the table must not hold one. The check is computed with a column and not in `where`: after a
   condition of the model that is NULL, Spark computes the next condition, too, for a row that the model leaves out. #}
{% macro checked_rows(query, rows) %}
    {% set hold = dbt.and_rows_hold(query) | trim %}
    {% set columns = query.columns | list %}
    {{ return(rows if not hold else
        'select case when true ' ~ hold ~ ' then ' ~ dbt.quoted(columns[0]) ~ ' end as ' ~ dbt.quoted(columns[0])
        ~ (', ' ~ dbt.quoted(columns[1:]) if columns[1:] else '') ~ ' from (' ~ rows ~ ') as checked'
    ) }}
{% endmacro %}
