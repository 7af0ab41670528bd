{# What this model reads of one source: tidemark/engine/decision/windows.py. #}
{% macro change_window(relation) %}
    {% set windows = dbt.run_state('windows').setdefault(model.unique_id, {}) %}
    {% set source = dbt.table_name(relation) %}
    {% set past = dbt.past_version(relation) %}
    {% if source not in windows and past is not none %}
        {% do windows.update({source: adapter.decide().windows.past_window(source, past)}) %}
    {% elif source not in windows %}
        {% do windows.update({source: adapter.change_window(dbt.facts(), dbt.read_state(), relation)}) %}
        {% do log(dbt.table_name(this) ~ ' reads ' ~ source ~ ' ' ~ windows[source].message) %}
    {% endif %}
    {{ return(windows[source]) }}
{% endmacro %}
