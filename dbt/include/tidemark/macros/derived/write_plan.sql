{# Writes what a plan computes from the changes of the sources: tidemark/engine/writing/plans.py. #}
{% macro tidemark__write_plan(relation, query, plan, readings) %}
    {% set change = dbt.tidemark__writer(relation, query).planned(plan, readings) %}
    {% if change.needs_whole %}
        {% do dbt.tidemark__drop_views_of(change) %}
        {% do dbt.tidemark__note_full('it has no unique_key, and its query tells none') %}
        {% do dbt.tidemark__write_bag(relation, query) %}
    {% else %}
        {% do dbt.tidemark__commit_change(relation, change) %}
    {% endif %}
{% endmacro %}
