{# Brings a model's table up to date: tidemark/engine/decision/steps.py decides how. `existing` is none if there is no table yet. #}
{% macro tidemark__write_model(existing, sql) %}
    {% if existing is not none and (should_full_refresh() or dbt.tidemark__is_repaired()) %}
        {% do adapter.drop_stages(dbt.tidemark__table_name(this)) %}
    {% endif %}
    {% set way, states = dbt.tidemark__way_of(model), dbt.tidemark__window_states(model) %}
    {% set step = adapter.decide().steps.step_of(way, dbt.tidemark__command(), existing is not none, states, dbt.tidemark__tables_below(model) != []) %}
    {% if step == 'dates' %}
        {% do dbt.tidemark__rebuild_range(this, dbt.tidemark__checked_query(dbt.tidemark__pinned_query(sql))) %}
    {% elif step == 'columns' %}
        {% do dbt.tidemark__rebuild_columns(this, dbt.tidemark__checked_query(dbt.tidemark__pinned_query(sql))) %}
    {% elif step == 'limited' %}
        {% do dbt.tidemark__write_limited(existing, sql) %}
    {% elif step == 'replace' %}
        {% do dbt.tidemark__rebuild_model(existing, dbt.tidemark__maintained_query(sql)) %}
    {% elif step == 'nothing' %}
        {% do dbt.tidemark__report_nothing_new(this, sql) %}
    {% else %}
        {% do dbt.tidemark__write_increment(dbt.tidemark__maintained_query(sql)) %}
    {% endif %}
    {% if step in ('columns', 'nothing', 'add') and not var('rebuild_plan', false) and dbt.tidemark__is_redeclared() %}
        {% do persist_docs(this, model) %}
        {% do dbt.tidemark__forget_table(this) %}
    {% endif %}
{% endmacro %}

{# Replaces the table, unless that would delete rows of another writer. #}
{% macro tidemark__rebuild_model(existing, query) %}
    {% do dbt.tidemark__check_rebuilt_columns(existing, query) %}
    {% if existing is not none and not existing.is_table %}
        {% do adapter.drop_relation(existing) %}
    {% elif existing is not none and not should_full_refresh() %}
        {% do dbt.tidemark__refuse_loss(this, query) %}
    {% endif %}
    {% if not dbt.tidemark__write_few_differences(existing, query) %}
        {% do dbt.tidemark__replace_table(query) %}
    {% endif %}
{% endmacro %}

{% macro tidemark__replace_table(query) %}
    {% do dbt.tidemark__create_from(this, query) %}
    {% do persist_docs(this, model) %}
    {% do dbt.tidemark__forget_table(this) %}
{% endmacro %}

{% macro tidemark__write_increment(query) %}
    {% set way, config = dbt.tidemark__way_of(model), model.config %}
    {% set keeps_rows = way.accumulates and not should_full_refresh() %}
    {% set state = dbt.tidemark__run_state('read_states').get(model.unique_id, {}).state %}
    {% set refused = adapter.decide().steps.refused_grain(this.identifier, state, keeps_rows, config) %}
    {% if refused %}
        {% do exceptions.raise_compiler_error(refused) %}
    {% endif %}
    {% set query = dbt.tidemark__conformed(this, query) %}
    {% set addition = adapter.decide().steps.addition_of(way, dbt.tidemark__command(), config, query['keys'] != []) if query is not none %}
    {% if query is none %}  {# the table was rebuilt #}
    {% elif addition == 'changes' %}
        {% do dbt.tidemark__write_changes(this, query) %}
    {% elif addition == 'partitions' %}
        {% do dbt.tidemark__overwrite_partitions(this, query) %}
    {% elif addition == 'bag' %}
        {% do dbt.tidemark__write_difference(this, query) %}
    {% elif keeps_rows and query.flag %}
        {% do dbt.tidemark__merge_into(this, dict(query, sql='select * from (' ~ query.sql ~ ') where not ' ~ query.flag, flag=none)) %}
    {% else %}
        {% do dbt.tidemark__merge_into(this, query) %}
    {% endif %}
{% endmacro %}
