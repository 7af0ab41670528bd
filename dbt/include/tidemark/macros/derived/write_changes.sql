{# Brings the table of a plain model up to date: from the changes of its sources where its query allows that, else by a
   comparison of the whole query with the table. #}
{% macro tidemark__write_changes(relation, query) %}
    {% set how = dbt.tidemark__read_state() %}
    {% set plan = none if how.is_whole else dbt.tidemark__plan_of(query, how.changed) %}
    {% set staged = adapter.staged(dbt.tidemark__table_name(this), plan) if plan else none %}
    {% if staged %}
        {{ return(dbt.tidemark__write_over_stages(relation, query, staged, plan)) }}
    {% endif %}
    {% if plan is none or plan.way == 'full' %}
        {% do dbt.tidemark__note_full(plan.why if plan else how.why) %}
        {% do dbt.tidemark__write_difference(relation, query) %}
        {{ return('') }}
    {% endif %}
    {% do dbt.tidemark__note_incremental(plan.how) %}
    {% set readings = dbt.tidemark__readings() %}
    {% if plan.reads_previous(readings) and not dbt.tidemark__keeps_columns() %}
        {% do dbt.tidemark__note_full('a source has other columns than at the last run') %}
        {% do dbt.tidemark__write_difference(relation, query) %}
        {{ return('') }}
    {% endif %}
    {% do dbt.tidemark__write_plan(relation, query, plan, readings) %}
{% endmacro %}

{% macro tidemark__plan_of(query, changed) %}
    {{ return(adapter.incremental_plan(query.sql, dbt.tidemark__request_of(query, changed))) }}
{% endmacro %}
