{% macro change_rows(relation, window, only_after=false) %}
    {{ return(adapter.dispatch('change_rows', 'tidemark')(relation, window, only_after)) }}
{% endmacro %}

{% macro default__change_rows(relation, window, only_after) %}
    {% set said = tidemark.said_in_sql(window) %}
    {% if window.state == 'incremental' %}
        {% set kept = tidemark.kept_changes(relation, window) %}
        {% if kept %}
            {{ return('(select * from ' ~ kept ~ ' ' ~ said ~ (' where ' ~ tidemark.is_after_image() if only_after else '') ~ ')') }}
        {% endif %}
        {{ return(tidemark.by_format('change_rows')(relation, window, said, only_after)) }}
    {% endif %}
    {# the same columns as changes have, so that a model reads either; when a row came is not known here #}
    {{ return(
        '(select *, \'insert\' as _change_type, cast(null as bigint) as _commit_version, '
        ~ 'cast(null as timestamp) as _commit_timestamp from ' ~ tidemark.as_of(relation, window.last) ~ ' '
        ~ said ~ (' where false' if window.state == 'nothing new' else '') ~ ')'
    ) }}
{% endmacro %}

{# True for a relation that stands for given rows: a unit test's, or none of `--empty`. It has no versions. #}
{% macro is_given(relation) %}
    {{ return(relation.is_cte or relation.limit is not none) }}
{% endmacro %}

{# Of a changed row: what it is now, as opposed to what it was before. #}
{% macro is_after_image() %}
    {{ return("_change_type in ('insert', 'update_postimage')") }}
{% endmacro %}

{# 1 for what came, -1 for what went: their sum over equal rows is how many more of them there are. #}
{% macro change_sign() %}
    {{ return('if(' ~ tidemark.is_after_image() ~ ', 1, -1)') }}
{% endmacro %}

{# What is read, as a comment for readers of the compiled SQL, and for `tidemark verify` and `explain`. #}
{% macro said_in_sql(window) %}
    {{ return(' /* consumes ' ~ window.source ~ ' ' ~ (window.said | replace('*/', '* /')) ~ ' */') }}
{% endmacro %}

{% macro said_of_values(source, values) %}
    {% if not values.number %}
        {{ return('') }}
    {% endif %}
    {% set span = values.lowest if values.lowest == values.highest else values.lowest ~ ' .. ' ~ values.highest %}
    {{ return(
        ' /* prunes ' ~ source ~ ' ' ~ values.column ~ ': ' ~ values.number ~ ' value' ~ ('' if values.number == 1 else 's')
        ~ ', ' ~ (span or 'null') | replace('*/', '* /') | replace('/*', '/ *') ~ ' */'
    ) }}
{% endmacro %}
