{# The query with the columns of its table, as the contract or `on_schema_change` says, or none if the table was rebuilt with
   the query's columns instead: tidemark/engine/adapter/schema_change.py. #}
{% macro tidemark__conformed(relation, query) %}
    {% if dbt.tidemark__has_contract() %}
        {% do dbt.tidemark__check_table(relation, query) %}
        {{ return(query) }}
    {% endif %}
    {% do dbt.tidemark__check_guards(relation) %}
    {% set step = dbt.tidemark__schema_step(relation, query) %}
    {% if step.action == 'none' %}
        {% do dbt.tidemark__note_added_columns(relation) %}
        {{ return(query) }}
    {% elif step.action == 'stop' %}
        {% do dbt.tidemark__stop_at_columns(step) %}
    {% elif step.action == 'rebuild' %}
        {% do dbt.tidemark__rebuild_with_columns(relation, query, step.message) %}
        {{ return(none) }}
    {% elif step.action == 'add' %}
        {% set added = [] %}
        {% for name, type in step.added.items() %}
            {% do added.append(dbt.tidemark__quoted(name) ~ ' ' ~ type) %}
        {% endfor %}
        {% do run_query('alter table ' ~ relation ~ ' add columns (' ~ added | join(', ') ~ ')') %}
        {% do dbt.tidemark__forget_table(relation) %}
    {% endif %}
    {% do dbt.tidemark__note_added_columns(relation) %}
    {% do dbt.tidemark__run_state('column_notes').update({model.unique_id: step.message}) %}
    {{ return(dbt.tidemark__read_as(query, step, dict(dbt.tidemark__columns_of(relation), **step.added))) }}
{% endmacro %}

{# What a run does about the columns. The whole table can be computed if the SQL does not say what to read, and if no row stays
   whose source is gone. #}
{% macro tidemark__schema_step(relation, query) %}
    {% set way = dbt.tidemark__way_of(model) %}
    {% set rebuilds = not (way.accumulates or way.why_unproven or model.extra_ctes and not dbt.tidemark__is_plain(model)) %}
    {{ return(adapter.schema_step(dbt.tidemark__columns_of(relation), query.types, config.get('on_schema_change'), rebuilds)) }}
{% endmacro %}

{% macro tidemark__stop_at_columns(step) %}
    {% do exceptions.raise_compiler_error(
        this.identifier ~ ': ' ~ step.message ~ '. Nothing was written. Rebuild the table: `dbt run --full-refresh --select '
        ~ this.identifier ~ '`. Or set on_schema_change to sync_all_columns.'
    ) %}
{% endmacro %}

{# With `on_schema_change: fail`, a change of the code may not change the columns either. #}
{% macro tidemark__check_rebuilt_columns(existing, query) %}
    {% if existing is not none and existing.is_table and not should_full_refresh() and not dbt.tidemark__has_contract()
        and config.get('on_schema_change') == 'fail' %}
        {% set step = dbt.tidemark__schema_step(existing, query) %}
        {% if step.action == 'stop' %}
            {% do dbt.tidemark__stop_at_columns(step) %}
        {% endif %}
    {% endif %}
{% endmacro %}
