{% macro changes(relation) %}
    {% if execute and dbt.tidemark__is_staging(relation) %}
        {{ return(dbt.tidemark__staged_changes(relation)) }}
    {% elif not execute or dbt.tidemark__is_limited() or dbt.tidemark__is_given(relation) %}
        {{ return(relation) }}
    {% endif %}
    {% set window = dbt.tidemark__change_window(relation) %}
    {% if window.state == 'incremental' %}
        {% do dbt.tidemark__refuse_deletes(relation, window) %}
    {% endif %}
    {{ return(dbt.tidemark__change_rows(relation, window, only_after=true)) }}
{% endmacro %}

{# changes() cannot report deleted rows, and the model would keep them: stop. Landed tables never get here. #}
{% macro tidemark__refuse_deletes(relation, window) %}
    {% set where = none if dbt.tidemark__way_of(model).accumulates else dbt.tidemark__by_format('deleted_in')(relation, window) %}
    {% if where %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ' reads new and updated rows of ' ~ window.source ~ ', but its ' ~ where
            ~ ' deleted rows. Read it by ref() or source(), and rebuild: `dbt run --full-refresh --select '
            ~ this.identifier ~ '`.'
        ) %}
    {% endif %}
{% endmacro %}
