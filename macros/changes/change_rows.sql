{% macro change_rows(relation, window, change_types) %}
    {{ return(adapter.dispatch('change_rows', 'tidemark')(relation, window, change_types)) }}
{% endmacro %}

{% macro default__change_rows(relation, window, change_types) %}
    {% set said = '/* consumes ' ~ relation ~ ' ' ~ window.said ~ ' */' %}
    {% if window.state == 'incremental' %}
        {% set only = "where _change_type in ('" ~ change_types | join("', '") ~ "')" if change_types else '' %}
        {{ return(
            '(select * from table_changes(\'' ~ relation ~ '\', ' ~ window.first ~ ', ' ~ window.last ~ ') '
            ~ said ~ ' ' ~ only ~ ')'
        ) }}
    {% endif %}
    {# the same columns as table_changes gives, so that a model reads either #}
    {{ return(
        '(select *, \'insert\' as _change_type, cast(' ~ window.last ~ ' as bigint) as _commit_version, '
        ~ 'cast(null as timestamp) as _commit_timestamp from ' ~ relation ~ ' version as of ' ~ window.last ~ ' '
        ~ said ~ (' where false' if window.state == 'nothing new' else '') ~ ')'
    ) }}
{% endmacro %}
