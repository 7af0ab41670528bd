{% macro pinned(relation) %}
    {{ return(adapter.dispatch('pinned', 'tidemark')(relation)) }}
{% endmacro %}

{% macro default__pinned(relation) %}
    {% if not execute or relation.is_cte %}
        {{ return(relation) }}
    {% endif %}
    {% set window = tidemark.change_window(relation) %}
    {{ return('(select * from ' ~ relation ~ ' version as of ' ~ window.last ~ tidemark.said_in_sql(window) ~ ')') }}
{% endmacro %}
