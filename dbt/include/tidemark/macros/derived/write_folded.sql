{# Folds the changed rows into the present groups. Groups whose new value the changes alone do not tell are recomputed. #}
{% macro write_folded(relation, query, plan, readings) %}
    {% set groups = '(' ~ plan.changed_groups(readings) ~ ')' %}
    {% set folded = '(' ~ plan.folded(groups, dbt.at_current_version(relation)) ~ ')' %}
    {% set columns = dbt.quoted(query.columns) %}
    {% set rows = 'select ' ~ columns ~ ', __tidemark_is_deleted from ' ~ folded %}
    {# most often the changes alone show that no group is lost, without reading the table #}
    {% if plan.suspects != 'false' and run_query('select 1 as one from ' ~ groups ~ ' where ' ~ plan.suspects ~ ' limit 1').rows %}
        {% set folded = dbt.cached_view('folded', 'select * from ' ~ folded) %}
        {% set lost = '(select ' ~ dbt.quoted(query['keys']) ~ ' from ' ~ folded ~ ' where __tidemark_is_lost)' %}
        {% set region = dbt.region_of(plan.columns, lost) %}
        {% set rows = 'select ' ~ columns ~ ', __tidemark_is_deleted from ' ~ folded ~ ' where not __tidemark_is_lost' %}
        {% if not region.is_empty %}
            {% set rows = rows ~ ' union all ' ~ dbt.lost_groups(query, lost, plan.recomputed(readings, region.conditions, lost)) %}
        {% endif %}
    {% endif %}
    {% do dbt.merge_into(relation, dict(query, sql=rows, is_plain=true, newest_by=[], flag='__tidemark_is_deleted', counts_versions=false)) %}
    {% do dbt.drop_cached_view('folded') %}
{% endmacro %}

{# The recomputed groups; those that have no rows left are flagged. #}
{% macro lost_groups(query, lost, rows) %}
    select
        {% for column in query.columns -%}
        {{ ('lost.' if column in query['keys'] else 'recomputed.') ~ dbt.quoted(column) }},
        {% endfor -%}
        recomputed.__tidemark_is_there is null as __tidemark_is_deleted
    from {{ lost }} as lost
    left join (select *, true as __tidemark_is_there from ({{ rows }})) as recomputed
        on {{ dbt.null_safe_equal('lost', 'recomputed', query['keys']) }}
{% endmacro %}
