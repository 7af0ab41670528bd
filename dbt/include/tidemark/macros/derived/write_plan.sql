{# Writes what a plan computes from the changes of the sources: tidemark/engine/writing/plans.py. #}
{% macro write_plan(relation, query, plan, readings) %}
    {% set change = dbt.writer(relation, query).planned(plan, readings) %}
    {% if change.needs_whole %}
        {% do dbt.drop_views_of(change) %}
        {% do dbt.note_full('it has no unique_key, and its query tells none') %}
        {% do dbt.write_bag(relation, query) %}
    {% else %}
        {% do dbt.commit_change(relation, change) %}
    {% endif %}
{% endmacro %}
