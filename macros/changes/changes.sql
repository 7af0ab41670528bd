{% macro changes(relation) %}
    {{ return(adapter.dispatch('changes', 'tidemark')(relation)) }}
{% endmacro %}

{% macro default__changes(relation) %}
    {% if not execute or relation.is_cte %}
        {{ return(relation) }}
    {% endif %}
    {{ return(tidemark.change_rows(relation, tidemark.change_window(relation), only_after=true)) }}
{% endmacro %}
