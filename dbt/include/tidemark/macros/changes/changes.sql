{% macro changes(relation) %}
    {% if execute and dbt.is_staging(relation) %}
        {{ return(dbt.staged_changes(relation)) }}
    {% elif not execute or dbt.is_limited() or dbt.is_given(relation) %}
        {{ return(relation) }}
    {% endif %}
    {% set window = dbt.change_window(relation) %}
    {% if window.state == 'incremental' %}
        {% do dbt.refuse_deletes(relation, window) %}
    {% endif %}
    {{ return(dbt.change_rows(relation, window, only_after=true)) }}
{% endmacro %}

{# changes() cannot report deleted rows, and the model would keep them: stop. Landed tables never get here. #}
{% macro refuse_deletes(relation, window) %}
    {% set where = none if dbt.way_of(model).accumulates else dbt.by_format('deleted_in')(relation, window) %}
    {% if where %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ' reads new and updated rows of ' ~ window.source ~ ', but its ' ~ where
            ~ ' deleted rows. Read it by ref() or source(), and rebuild: `dbt run --full-refresh --select '
            ~ this.identifier ~ '`.'
        ) %}
    {% endif %}
{% endmacro %}
