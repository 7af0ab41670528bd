{% macro change_rows(relation, window, change_types) %}
    {{ return(adapter.dispatch('change_rows', 'tidemark')(relation, window, change_types)) }}
{% endmacro %}

{% macro default__change_rows(relation, window, change_types) %}
    {% set said = tidemark.said_in_sql(window) %}
    {% if window.state == 'incremental' %}
        {% set only = "where _change_type in ('" ~ change_types | join("', '") ~ "')" if change_types else '' %}
        {{ return(
            '(select * from table_changes(\'' ~ relation ~ '\', ' ~ window.first ~ ', ' ~ window.last ~ ') '
            ~ said ~ ' ' ~ only ~ ')'
        ) }}
    {% endif %}
    {# the same columns as table_changes gives, so that a model reads either; when a row came is not known here #}
    {{ return(
        '(select *, \'insert\' as _change_type, cast(null as bigint) as _commit_version, '
        ~ 'cast(null as timestamp) as _commit_timestamp from ' ~ relation ~ ' version as of ' ~ window.last ~ ' '
        ~ said ~ (' where false' if window.state == 'nothing new' else '') ~ ')'
    ) }}
{% endmacro %}

{# What is read, as a comment for readers of the compiled SQL, and for `tidemark verify` and `explain`. #}
{% macro said_in_sql(window) %}
    {{ return(' /* consumes ' ~ window.source ~ ' ' ~ window.said ~ ' */') }}
{% endmacro %}

{% macro said_of_values(source, values) %}
    {% if not values.number %}
        {{ return('') }}
    {% endif %}
    {% set span = values.lowest if values.lowest == values.highest else values.lowest ~ ' .. ' ~ values.highest %}
    {{ return(
        ' /* prunes ' ~ source ~ ' ' ~ values.column ~ ': ' ~ values.number ~ ' value' ~ ('' if values.number == 1 else 's')
        ~ ', ' ~ (span or 'null') | replace('*/', '* /') ~ ' */'
    ) }}
{% endmacro %}
