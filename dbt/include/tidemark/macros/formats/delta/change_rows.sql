{% macro tidemark__delta_change_rows(relation, window, message, only_after) %}
    {{ return(
        '(select * from table_changes(\'' ~ relation ~ '\', ' ~ (window.after + 1) ~ ', ' ~ window.last ~ ') '
        ~ message ~ (' where ' ~ dbt.tidemark__is_after_image() if only_after else '') ~ ')'
    ) }}
{% endmacro %}

{# The version whose commit deleted rows, as text, or none. changes() cannot report deleted rows. #}
{% macro tidemark__delta_deleted_in(relation, window) %}
    {% for commit in adapter.commits_between(relation, window.after, window.last) if commit.deletes %}
        {{ return('version ' ~ commit.version ~ ' (' ~ commit.operation ~ ')') }}
    {% endfor %}
    {{ return(none) }}
{% endmacro %}
