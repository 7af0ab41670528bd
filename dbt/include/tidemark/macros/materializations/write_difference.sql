{# How a plain model reads: not at all if its sources and its own table are as its last run left them. #}
{% macro plain_read_state() %}
    {% for node in dbt.tables_below(model) if not dbt.is_view(node) %}
        {% set source = dbt.relation_of(node) %}
        {% set name = dbt.table_name(source) %}
        {% if not dbt.has_versions(source) %}
            {{ return({'state': 'full', 'why': name ~ ' has no versions'}) }}
        {% endif %}
        {% set mark = dbt.checkpoint(this, name) %}
        {% if not mark or dbt.lost_join(source, mark) %}
            {{ return({'state': 'full', 'why': name ~ (' has changed' if mark else ' has no checkpoint yet')}) }}
        {% endif %}
    {% endfor %}
    {% set lost = dbt.lost_table() %}
    {{ return({'state': 'full' if lost else 'incremental', 'why': lost or 'incremental'}) }}
{% endmacro %}

{# Makes the table equal to the query: keys that the query does not return are deleted, and nothing is committed if nothing
   differs. The settings newest_by, insert_only and prune_by do not apply here: they choose between versions of a key in an
   increment. #}
{% macro write_difference(relation, query) %}
    {% set rows = dbt.kept('rows', query.sql) %}
    {% set columns = dbt.quoted(query.columns) %}
    {% set full %}
        select {{ columns }}, {{ '_is_deleted' if query.flags_deletes else 'false as _is_deleted' }} from {{ rows }}
        union all
        select {{ columns }}, true as _is_deleted
        from {{ dbt.at_current_version(relation) }} as present
        where not exists (
            select 1 from {{ rows }} as incoming where {{ dbt.null_safe_equal('incoming', 'present', query['keys']) }}
        )
    {% endset %}
    {% do dbt.merge_into(relation, dict(query, sql=full, newest_by=[], flags_deletes=true, counts_versions=false, is_whole=true)) %}
    {% do dbt.drop_kept('rows') %}
{% endmacro %}
