{# Why a query is computed in full, though its changes may be applied: tidemark/engine/decision/costs.py; or an empty text. #}
{% macro tidemark__why_full_by_cost() %}
    {% set maintain = config.get('meta', {}).get('maintain', 'auto') %}
    {% if maintain == 'never' %}
        {{ return('meta.maintain is never') }}
    {% elif not adapter.decide().costs.is_measured(maintain, dbt.tidemark__facts().source_bytes) %}
        {{ return('') }}
    {% endif %}
    {{ return(adapter.decide().costs.usual(dbt.tidemark__measured_runs()).why_full) }}
{% endmacro %}

{# The newest runs of the model that read something, newest first; those of all models are read once. #}
{% macro tidemark__measured_runs() %}
    {% set known = dbt.tidemark__run_state('measured') %}
    {% if 'runs' not in known %}
        {% do known.update(runs=adapter.measured_runs(dbt.tidemark__ops_table('runs'))) %}
    {% endif %}
    {{ return(known.runs.get(dbt.tidemark__table_name(this), [])) }}
{% endmacro %}
