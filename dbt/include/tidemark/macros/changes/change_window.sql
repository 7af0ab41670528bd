{# What this model reads of one source: tidemark/engine/decision/windows.py. #}
{% macro tidemark__change_window(relation) %}
    {% do dbt.tidemark__refuse_in_views('changes()') %}
    {% set windows = dbt.tidemark__run_state('windows').setdefault(model.unique_id, {}) %}
    {% set source = dbt.tidemark__table_name(relation) %}
    {% set past = dbt.tidemark__past_version(relation) %}
    {% if source not in windows and past is not none %}
        {% do windows.update({source: adapter.decide().windows.past_window(source, past)}) %}
    {% elif source not in windows %}
        {% do windows.update({source: adapter.change_window(dbt.tidemark__facts(), dbt.tidemark__read_state(), relation)}) %}
        {% do log(dbt.tidemark__table_name(this) ~ ' reads ' ~ source ~ ' ' ~ windows[source].message) %}
    {% endif %}
    {{ return(windows[source]) }}
{% endmacro %}

{# A view has no checkpoint. It would read all rows each time, or, by a watermark, stay as it was when it was made. #}
{% macro tidemark__refuse_in_views(macro_name) %}
    {% if dbt.tidemark__is_view(model) %}
        {% do exceptions.raise_compiler_error(
            model.name ~ ' calls ' ~ macro_name ~ ', but it is ' ~ {'view': 'a view', 'ephemeral': 'ephemeral'}[model.config.materialized]
            ~ ': only a table has a checkpoint that says what it has read. Write ref() or source() here, and '
            ~ macro_name ~ ' in the incremental model that reads ' ~ model.name ~ '.'
        ) %}
    {% endif %}
{% endmacro %}
