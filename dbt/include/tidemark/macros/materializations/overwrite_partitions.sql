{# Replaces the partitions that the query names, if they differ from the present ones. A flagged row names a
   partition that has no rows left. The statement carries the predicate, so no session setting is changed. #}
{% macro overwrite_partitions(relation, query) %}
    {% set partitions = adapter.columns_named(dbt.as_list(config.get('partition_by')), query.columns) %}
    {% if partitions | length != 1 %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ': insert_overwrite needs one partition_by column, not ' ~ partitions | length ~ '.'
        ) %}
    {% endif %}
    {% set partition = partitions[0] %}
    {% set batch = dbt.cached_view('batch', query.sql) %}
    {% set gone = query.get('gone') or query.flag %}
    {% set rows = '(select ' ~ dbt.quoted(query.columns) ~ ' from ' ~ batch ~ (' where not ' ~ gone if gone else '') ~ ')' %}
    {% set named = dbt.in_values(dbt.quoted(partition), dbt.values_of(partition, batch, limit=100000)) %}
    {% set differing_rows %}
        (select {{ dbt.quoted(partition) }}
        from (
            select {{ dbt.quoted(query.columns) }}, 1 as __tidemark_side from {{ '(' ~ dbt.once_a_key(query, rows) ~ ')' if query['keys'] else rows }}
            union all
            select {{ dbt.quoted(query.columns) }}, -1 as __tidemark_side from {{ relation }} where {{ named }}
        )
        group by {{ dbt.quoted(partition) }}, {{ adapter.grouped_values(query.types) }}
        having sum(__tidemark_side) != 0)
    {% endset %}
    {% set differing = dbt.values_of(partition, differing_rows, limit=100000) %}
    {% set counts = {} %}
    {% do dbt.check_cost() %}
    {% if differing.number %}
        {# this INSERT goes by position #}
        {% set in_order = dbt.quoted(dbt.columns_of(relation) | list) %}
        {% set these = dbt.in_values(dbt.quoted(partition), differing) %}
        {% do dbt.audit_partitions(relation, query, rows, these) %}
        {% do run_query(
            'insert into ' ~ relation ~ ' replace where ' ~ these
            ~ ' select ' ~ in_order ~ ' from ' ~ batch ~ ' where ' ~ ('not ' ~ gone ~ ' and ' if gone else '') ~ these
            ~ dbt.and_rows_hold(query, gone)
        ) %}
        {% set commit = adapter.note_commit(relation) %}
        {% do counts.update({'inserted': commit.rows, 'deleted': commit.deleted, 'commit': commit}) %}
    {% endif %}
    {% do dbt.drop_cached_view('batch') %}
    {% do dbt.report_written(counts) %}
{% endmacro %}
