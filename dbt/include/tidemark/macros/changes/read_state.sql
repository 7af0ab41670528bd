{# How this model reads, decided once for all its sources: tidemark/engine/decision/reading.py. #}
{% macro tidemark__read_state() %}
    {% set states = dbt.tidemark__run_state('read_states') %}
    {% if model.unique_id not in states %}
        {% set how = adapter.decide().reading.decide_reading(dbt.tidemark__facts()) %}
        {% if how.refused %}
            {% do exceptions.raise_compiler_error(how.refused) %}
        {% elif how.rebuilds %}
            {% do log(dbt.tidemark__table_name(this) ~ ' reads its sources whole: ' ~ how.why, info=True) %}
        {% endif %}
        {% do states.update({model.unique_id: how}) %}
    {% endif %}
    {{ return(states[model.unique_id]) }}
{% endmacro %}
