{% macro pinned(relation) %}
    {{ return(adapter.dispatch('pinned', 'tidemark')(relation)) }}
{% endmacro %}

{% macro default__pinned(relation) %}
    {% if not execute or relation.is_cte %}
        {{ return(relation) }}
    {% endif %}
    {{ return('(select * from ' ~ relation ~ ' version as of ' ~ tidemark.change_window(relation).last ~ ')') }}
{% endmacro %}
