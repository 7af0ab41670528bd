{% macro changes(relation) %}
    {{ return(adapter.dispatch('changes', 'tidemark')(relation)) }}
{% endmacro %}

{% macro default__changes(relation) %}
    {% if not execute or tidemark.is_given(relation) %}
        {{ return(relation) }}
    {% endif %}
    {% set window = tidemark.change_window(relation) %}
    {% if window.state == 'incremental' %}
        {% do tidemark.refuse_deletes(relation, window) %}
    {% endif %}
    {{ return(tidemark.change_rows(relation, window, only_after=true)) }}
{% endmacro %}

{# What changes() gives cannot say that a row went: stop, since the model would keep it. Landed tables never get here. #}
{% macro refuse_deletes(relation, window) %}
    {% for commit in tidemark.commits_since(relation, window.first - 1) if commit.version <= window.last
        and (tidemark.overwrites(commit) and commit.metrics.get('numDeletedRows', 1) | int or commit.metrics.get('numTargetRowsDeleted', 0) | int) %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ' reads new and updated rows of ' ~ window.source ~ ', but its version ' ~ commit.version ~ ' ('
            ~ commit.operation ~ ') deleted rows. Read it by touched_keys() and pinned(), and rebuild: `dbt run --full-refresh --select '
            ~ this.identifier ~ '`.'
        ) %}
    {% endfor %}
{% endmacro %}
