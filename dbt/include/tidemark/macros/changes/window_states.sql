{# The states in which this model reads its sources. #}
{% macro window_states(node) %}
    {{ return(dbt.windows_of(node.unique_id) | map(attribute='state') | unique | list) }}
{% endmacro %}

{# What a model or test reads, by source: versions, and the tables that a model joins plainly. #}
{% macro windows_of(unique_id) %}
    {% set read = dbt.run_state('windows').get(unique_id, {}) %}
    {{ return((read.values() | list) + (dbt.run_state('joined').get(unique_id, {}).values() | list)) }}
{% endmacro %}
