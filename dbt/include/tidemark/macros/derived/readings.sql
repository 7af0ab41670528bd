{# For each table that the model reads, what reads its present rows, its previous rows and its changes. #}
{% macro tidemark__readings() %}
    {% set found = {} %}
    {% for window in dbt.tidemark__run_state('joined')[model.unique_id].values() %}
        {% set relation = dbt.tidemark__relation_named(window.source) %}
        {% set is_changed = window.state == 'incremental' %}
        {% do found.update({window.source | lower: {
            'present': dbt.tidemark__as_of(relation, window.last),
            'previous': dbt.tidemark__as_of(relation, window.after if is_changed else window.last),
            'changes': dbt.tidemark__change_rows(relation, window) if is_changed
        }}) %}
    {% endfor %}
    {{ return(found) }}
{% endmacro %}

{# Records that this run reads the changes of the sources that changed. #}
{% macro tidemark__note_incremental(way) %}
    {% set joined = dbt.tidemark__run_state('joined')[model.unique_id].values() %}
    {% do adapter.decide().windows.read_changes(dbt.tidemark__facts(), dbt.tidemark__read_state(), joined, way) %}
    {% for window in joined %}
        {% do log(dbt.tidemark__table_name(this) ~ ' reads ' ~ window.source ~ ' ' ~ window.message) %}
    {% endfor %}
{% endmacro %}

{# Records why this run computes the query in full. #}
{% macro tidemark__note_full(why) %}
    {% do adapter.decide().windows.read_in_full(dbt.tidemark__read_state(), dbt.tidemark__run_state('joined')[model.unique_id].values(), why) %}
    {% do log(dbt.tidemark__table_name(this) ~ ' is computed in full: ' ~ why) %}
{% endmacro %}

{# A plain model's query with each table as of the version that this run reads. #}
{% macro tidemark__pinned_query(sql) %}
    {% set versions = {} %}
    {% for window in dbt.tidemark__run_state('joined').get(model.unique_id, {}).values() if dbt.tidemark__is_plain(model) %}
        {% do versions.update({window.source: dbt.tidemark__as_of(dbt.tidemark__relation_named(window.source), window.last)}) %}
    {% endfor %}
    {{ return(adapter.pinned(sql, versions)) }}
{% endmacro %}
