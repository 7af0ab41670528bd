{# Brings a model's table up to date: tidemark/engine/decision/steps.py decides how. `existing` is none if there is no table yet. #}
{% macro write_model(existing, sql) %}
    {% set way, states = dbt.way_of(model), dbt.window_states(model) %}
    {% set step = adapter.decide().steps.step_of(way, dbt.command(), existing is not none, states, dbt.tables_below(model) != []) %}
    {% if step == 'dates' %}
        {% do dbt.rebuild_range(this, dbt.checked_query(dbt.pinned_query(sql))) %}
    {% elif step == 'columns' %}
        {% do dbt.rebuild_columns(this, dbt.checked_query(dbt.pinned_query(sql))) %}
    {% elif step == 'limited' %}
        {% do dbt.write_limited(existing, sql) %}
    {% elif step == 'replace' %}
        {% do dbt.rebuild_model(existing, dbt.checked_query(sql)) %}
    {% elif step == 'nothing' %}
        {% do dbt.report_nothing_new(this, sql) %}
    {% else %}
        {% do dbt.write_increment(dbt.checked_query(sql)) %}
    {% endif %}
    {% if step in ('columns', 'nothing', 'add') and not var('rebuild_plan', false) and dbt.is_redeclared() %}
        {% do persist_docs(this, model) %}
        {% do dbt.forget_table(this) %}
    {% endif %}
{% endmacro %}

{# Replaces the table, unless that would delete rows of another writer. #}
{% macro rebuild_model(existing, query) %}
    {% do dbt.check_rebuilt_columns(existing, query) %}
    {% if existing is not none and not existing.is_table %}
        {% do adapter.drop_relation(existing) %}
    {% elif existing is not none and not should_full_refresh() %}
        {% do dbt.refuse_loss(this, query) %}
    {% endif %}
    {% do dbt.replace_table(query) %}
{% endmacro %}

{% macro replace_table(query) %}
    {% do dbt.create_from(this, query) %}
    {% do persist_docs(this, model) %}
    {% do dbt.forget_table(this) %}
{% endmacro %}

{% macro write_increment(query) %}
    {% set way, config = dbt.way_of(model), model.config %}
    {% set keeps_rows = way.accumulates and not should_full_refresh() %}
    {% set refused = adapter.decide().steps.refused_grain(this.identifier, dbt.run_state('read_states').get(model.unique_id, {}).state, keeps_rows, config) %}
    {% if refused %}
        {% do exceptions.raise_compiler_error(refused) %}
    {% endif %}
    {% set query = dbt.conformed(this, query) %}
    {% set addition = adapter.decide().steps.addition_of(way, dbt.command(), config, query['keys'] != []) if query is not none %}
    {% if query is none %}  {# the table was rebuilt #}
    {% elif addition == 'changes' %}
        {% do dbt.write_changes(this, query) %}
    {% elif addition == 'partitions' %}
        {% do dbt.overwrite_partitions(this, query) %}
    {% elif addition == 'bag' %}
        {% do dbt.write_bag(this, query) %}
    {% elif keeps_rows and query.flag %}
        {% do dbt.merge_into(this, dict(query, sql='select * from (' ~ query.sql ~ ') where not ' ~ query.flag, flag=none)) %}
    {% else %}
        {% do dbt.merge_into(this, query) %}
    {% endif %}
{% endmacro %}
