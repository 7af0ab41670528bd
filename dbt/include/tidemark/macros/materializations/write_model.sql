{# Brings a model's table up to date. `existing` is none if there is no table yet. #}
{% macro write_model(existing, sql) %}
    {% set way = dbt.way_of(model) %}
    {% set keeps_rows = way.accumulates and existing is not none and not should_full_refresh() %}
    {% set replaces = existing is none or should_full_refresh() or dbt.reads_in_full(model) and not keeps_rows %}
    {% if dbt.rebuilt_range() %}
        {% do dbt.rebuild_range(this, dbt.checked_query(dbt.pinned_query(sql))) %}
        {{ return('') }}
    {% elif dbt.rebuilt_columns() %}
        {% do dbt.rebuild_columns(this, dbt.checked_query(dbt.pinned_query(sql))) %}
    {% elif dbt.is_limited() and dbt.tables_below(model) and not way.why_unproven %}
        {% do dbt.write_limited(existing, sql) %}
        {{ return('') }}
    {% elif replaces %}
        {% set query = dbt.checked_query(sql) %}
        {% do dbt.check_rebuilt_columns(existing, query) %}
        {% if existing is not none and not existing.is_table %}
            {% do adapter.drop_relation(existing) %}
        {% elif existing is not none and not should_full_refresh() %}
            {% do dbt.refuse_loss(this, query) %}
        {% endif %}
        {% do dbt.replace_table(query) %}
        {{ return('') }}
    {% elif dbt.has_nothing_new(model) %}
        {% do dbt.report_nothing_new(this, sql) %}
    {% else %}
        {% do dbt.write_increment(dbt.checked_query(sql), keeps_rows) %}
    {% endif %}
    {% if not var('rebuild_plan', false) and dbt.is_redeclared() %}
        {% do persist_docs(this, model) %}
        {% do dbt.forget_table_state(this) %}
    {% endif %}
{% endmacro %}

{% macro replace_table(query) %}
    {% do dbt.create_from(this, query) %}
    {% do persist_docs(this, model) %}
    {% do dbt.forget_table_state(this) %}
{% endmacro %}

{# `keeps_rows`: rows stay that the query no longer gives. #}
{% macro write_increment(query, keeps_rows) %}
    {% if keeps_rows and dbt.run_state('read_states').get(model.unique_id, {}).state == 'grain changed' %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ': its unique_key, newest_by, insert_only or prune_by has changed, and the rows that it keeps were written by the earlier '
            ~ 'one. Undo the change, or build the table again from what its sources have now: `dbt run --full-refresh --select '
            ~ this.identifier ~ '`' ~ (', without `full_refresh: false`' if config.get('full_refresh') == false else '') ~ '.'
        ) %}
    {% endif %}
    {% set query = dbt.conformed(this, query) %}
    {% if query is none %}  {# the table was rebuilt #}
    {% elif dbt.is_plain(model) %}
        {% do dbt.write_changes(this, query) %}
    {% elif config.get('incremental_strategy') == 'insert_overwrite' %}
        {% do dbt.overwrite_partitions(this, query) %}
    {% elif not query['keys'] %}
        {% do dbt.write_bag(this, query) %}
    {% elif keeps_rows and query.flag %}
        {% do dbt.merge_into(this, dict(query, sql='select * from (' ~ query.sql ~ ') where not ' ~ query.flag, flag=none)) %}
    {% else %}
        {% do dbt.merge_into(this, query) %}
    {% endif %}
{% endmacro %}
