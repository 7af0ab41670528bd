{# What this model reads of one source: tidemark/engine/decision/windows.py. #}
{% macro tidemark__change_window(relation) %}
    {% set windows = dbt.tidemark__run_state('windows').setdefault(model.unique_id, {}) %}
    {% set source = dbt.tidemark__table_name(relation) %}
    {% set past = dbt.tidemark__past_version(relation) %}
    {% if source not in windows and past is not none %}
        {% do windows.update({source: adapter.decide().windows.past_window(source, past)}) %}
    {% elif source not in windows %}
        {% do windows.update({source: adapter.change_window(dbt.tidemark__facts(), dbt.tidemark__read_state(), relation)}) %}
        {% do log(dbt.tidemark__table_name(this) ~ ' reads ' ~ source ~ ' ' ~ windows[source].message) %}
    {% endif %}
    {{ return(windows[source]) }}
{% endmacro %}
