{% macro changes(relation) %}
    {% if not execute or tidemark.is_given(relation) %}
        {{ return(relation) }}
    {% endif %}
    {% set window = tidemark.change_window(relation) %}
    {% if window.state == 'incremental' %}
        {% do tidemark.refuse_deletes(relation, window) %}
    {% endif %}
    {{ return(tidemark.change_rows(relation, window, only_after=true)) }}
{% endmacro %}

{# changes() cannot report deleted rows, and the model would keep them: stop. Landed tables never get here. #}
{% macro refuse_deletes(relation, window) %}
    {% set where = tidemark.by_format('deleted_in')(relation, window) %}
    {% if where %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ' reads new and updated rows of ' ~ window.source ~ ', but its ' ~ where
            ~ ' deleted rows. Read it with touched_keys() and pinned(), and rebuild: `dbt run --full-refresh --select '
            ~ this.identifier ~ '`.'
        ) %}
    {% endif %}
{% endmacro %}
