{% macro tidemark__change_rows(relation, window, only_after=false) %}
    {% set message = dbt.tidemark__note_of_source(window) %}
    {% if window.state == 'incremental' %}
        {% set cached_view = dbt.tidemark__cached_changes(relation, window) %}
        {% if cached_view %}
            {{ return('(select * from ' ~ cached_view ~ ' ' ~ message ~ (' where ' ~ dbt.tidemark__is_after_image() if only_after else '') ~ ')') }}
        {% endif %}
        {{ return(dbt.tidemark__by_format('change_rows')(relation, window, message, only_after)) }}
    {% endif %}
    {# the same columns as changes have, so that a model reads either; when a row came is not known here #}
    {{ return(
        '(select *, \'insert\' as _change_type, cast(null as bigint) as _commit_version, '
        ~ 'cast(null as timestamp) as _commit_timestamp from ' ~ dbt.tidemark__as_of(relation, window.last) ~ ' '
        ~ message ~ (' where false' if window.state == 'nothing new' else '') ~ ')'
    ) }}
{% endmacro %}

{# True for a relation of given rows: those of a unit test, of an audit, or none with `--empty`. It has no versions. #}
{% macro tidemark__is_given(relation) %}
    {{ return(relation.is_cte or relation.limit is not none or relation.schema is none) }}
{% endmacro %}
