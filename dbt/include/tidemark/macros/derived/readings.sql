{# For each table that the model reads, what reads its present rows, its previous rows and its changes. #}
{% macro readings() %}
    {% set found = {} %}
    {% for window in dbt.run_state('joined')[model.unique_id].values() %}
        {% set relation = dbt.relation_named(window.source) %}
        {% set is_changed = window.state == 'incremental' %}
        {% do found.update({window.source | lower: {
            'present': dbt.as_of(relation, window.last),
            'previous': dbt.as_of(relation, window.after if is_changed else window.last),
            'changes': dbt.change_rows(relation, window) if is_changed
        }}) %}
    {% endfor %}
    {{ return(found) }}
{% endmacro %}

{# Records that this run reads the changes of the sources that changed. #}
{% macro note_incremental(plan) %}
    {% set joined = dbt.run_state('joined')[model.unique_id].values() %}
    {% do adapter.decide().windows.read_changes(dbt.facts(), dbt.read_state(), joined, plan.how) %}
    {% for window in joined %}
        {% do log(dbt.table_name(this) ~ ' reads ' ~ window.source ~ ' ' ~ window.message) %}
    {% endfor %}
{% endmacro %}

{# Records why this run computes the query in full. #}
{% macro note_full(why) %}
    {% do adapter.decide().windows.read_in_full(dbt.read_state(), dbt.run_state('joined')[model.unique_id].values(), why) %}
    {% do log(dbt.table_name(this) ~ ' is computed in full: ' ~ why) %}
{% endmacro %}

{# A plain model's query with each table as of the version that this run reads. #}
{% macro pinned_query(sql) %}
    {% set versions = {} %}
    {% for window in dbt.run_state('joined').get(model.unique_id, {}).values() if dbt.is_plain(model) %}
        {% do versions.update({window.source: dbt.as_of(dbt.relation_named(window.source), window.last)}) %}
    {% endfor %}
    {{ return(adapter.pinned(sql, versions)) }}
{% endmacro %}
