{# Writes what a plan computes from the changes of the sources: tidemark/engine/writing/plans.py. #}
{% macro tidemark__write_plan(relation, query, plan, readings) %}
    {% do dbt.tidemark__commit_change(relation, dbt.tidemark__writer(relation, query).planned(plan, readings)) %}
{% endmacro %}
