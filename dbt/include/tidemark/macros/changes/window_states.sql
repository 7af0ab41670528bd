{# The states in which this model reads its sources. #}
{% macro tidemark__window_states(node) %}
    {{ return(dbt.tidemark__windows_of(node.unique_id) | map(attribute='state') | unique | list) }}
{% endmacro %}

{# What a model or test reads, by source: versions, and the tables that a model joins plainly. #}
{% macro tidemark__windows_of(unique_id) %}
    {% set read = dbt.tidemark__run_state('windows').get(unique_id, {}) %}
    {{ return((read.values() | list) + (dbt.tidemark__run_state('joined').get(unique_id, {}).values() | list)) }}
{% endmacro %}
