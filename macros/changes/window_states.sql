{# True when all that the model reads is unchanged since its last run. #}
{% macro has_nothing_new(node) %}
    {{ return(tidemark.window_states(node) == ['nothing new']) }}
{% endmacro %}

{# True when the model reads its sources whole, so that its table is to be replaced and not merged into. #}
{% macro reads_whole(node) %}
    {% set states = tidemark.window_states(node) %}
    {{ return('first run' in states or 'history lost' in states) }}
{% endmacro %}

{% macro window_states(node) %}
    {% set windows = tidemark.run_state('windows').get(node.unique_id, {}) %}
    {{ return(windows.values() | map(attribute='state') | unique | list) }}
{% endmacro %}
