{# Audits a merge. #}
{% macro audit_merge(relation, query, outcomes) %}
    {% set columns = dbt.quoted(query.columns) %}
    {% set gained = 'select ' ~ columns ~ ' from ' ~ outcomes ~ " where __tidemark_outcome in ('inserted', 'updated')" %}
    {% set whole = 'select ' ~ columns ~ ' from (select * from ' ~ dbt.at_current_version(relation) ~ ') as present left anti join (select '
        ~ dbt.quoted(query['keys']) ~ ' from ' ~ outcomes ~ " where __tidemark_outcome in ('updated', 'deleted')) as incoming on "
        ~ dbt.null_safe_equal('incoming', 'present', query['keys']) ~ ' union all ' ~ gained %}
    {% set changing = " where __tidemark_outcome in ('inserted', 'updated', 'deleted')" %}
    {% do dbt.audit(gained, whole, 'select ' ~ columns ~ ', __tidemark_outcome from ' ~ outcomes ~ changing) %}
{% endmacro %}

{# Audits partitions that replace those of the table for which `these` is true. `rows` is a query in parentheses. #}
{% macro audit_partitions(relation, query, rows, these) %}
    {% set columns = dbt.quoted(query.columns) %}
    {% set gained = 'select ' ~ columns ~ ' from ' ~ rows ~ ' where ' ~ these %}
    {% set whole = 'select ' ~ columns ~ ' from ' ~ dbt.at_current_version(relation) ~ ' where not coalesce(' ~ these ~ ', false) union all ' ~ gained %}
    {% do dbt.audit(gained, whole, gained) %}
{% endmacro %}
