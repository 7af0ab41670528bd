{# Why a query is computed in full, though its changes may be applied: tidemark/engine/decision/costs.py; or an empty text. #}
{% macro tidemark__why_full_by_cost() %}
    {% set maintain, costs = config.get('meta', {}).get('maintain', 'auto'), adapter.decide().costs %}
    {% if maintain == 'never' %}
        {{ return('meta.maintain is never') }}
    {% elif not costs.is_measured(maintain, dbt.tidemark__facts().source_bytes) %}
        {{ return('') }}
    {% endif %}
    {% set known = dbt.tidemark__run_state('measured') %}
    {% if 'runs' not in known %}
        {% do known.update(runs=adapter.measured_runs(dbt.tidemark__ops_table('runs'))) %}
    {% endif %}
    {{ return(costs.why_full(known.runs.get(dbt.tidemark__table_name(this), []))) }}
{% endmacro %}
