{# True if the model reads its sources in full, so that its table is replaced and not merged into. #}
{% macro reads_in_full(node) %}
    {% set states = dbt.window_states(node) %}
    {{ return('first run' in states or states | select('in', dbt.states_to_rebuild()) | list != []) }}
{% endmacro %}

{# The states in which changes alone would not give the table of a rebuild, so the table is rebuilt. #}
{% macro states_to_rebuild() %}
    {{ return(['history lost', 'columns added', 'grain changed', 'code changed']) }}
{% endmacro %}
