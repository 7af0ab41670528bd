{# Audits a merge. #}
{% macro audit_merge(relation, query, outcomes) %}
    {% set columns = dbt.quoted(query.columns) %}
    {% set gained = 'select ' ~ columns ~ ' from ' ~ outcomes ~ " where _outcome in ('inserted', 'updated')" %}
    {% set whole = 'select ' ~ columns ~ ' from (select * from ' ~ dbt.at_current_version(relation) ~ ') as present left anti join (select '
        ~ dbt.quoted(query['keys']) ~ ' from ' ~ outcomes ~ " where _outcome in ('updated', 'deleted')) as incoming on "
        ~ dbt.null_safe_equal('incoming', 'present', query['keys']) ~ ' union all ' ~ gained %}
    {% do dbt.audit(gained, whole, 'select ' ~ columns ~ ', _outcome from ' ~ outcomes ~ " where _outcome in ('inserted', 'updated', 'deleted')") %}
{% endmacro %}

{# Audits partitions that replace those of the table for which `these` is true. `rows` is a query in parentheses. #}
{% macro audit_partitions(relation, query, rows, these) %}
    {% set columns = dbt.quoted(query.columns) %}
    {% set gained = 'select ' ~ columns ~ ' from ' ~ rows ~ ' where ' ~ these %}
    {% set whole = 'select ' ~ columns ~ ' from ' ~ dbt.at_current_version(relation) ~ ' where not coalesce(' ~ these ~ ', false) union all ' ~ gained %}
    {% do dbt.audit(gained, whole, gained) %}
{% endmacro %}
