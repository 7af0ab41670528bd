{# Unlike stock dbt-spark, this can skip a model, delete rows, match NULL keys and report what it wrote. #}
{% materialization incremental, adapter='tidemark', supported_languages=['sql'] %}
    {% do dbt.check_settings() %}
    {% do dbt.check_sql() %}
    {% do dbt.measure_cost() %}
    {% do dbt.note_version_before(model, this) %}
    {% do dbt.run_sql_header() %}
    {% if dbt.way_of(model).is_stock %}
        {{ return(dbt.run_as_stock()) }}
    {% endif %}
    {% set existing = load_relation(this) %}
    {{ run_hooks(pre_hooks) }}
    {% if pre_hooks %}
        {% do dbt.forget_table_state(this) %}
    {% endif %}
    {% do dbt.note_joined_tables() %}
    {% if dbt.rebuilt_range() %}
        {% do dbt.rebuild_range(this, dbt.checked_query(dbt.pinned_query(sql))) %}
    {% elif dbt.rebuilt_columns() %}
        {% do dbt.rebuild_columns(this, dbt.checked_query(dbt.pinned_query(sql))) %}
    {% elif existing is none or should_full_refresh() or dbt.reads_in_full(model) %}
        {% if flags.EMPTY and dbt.own_marks() %}
            {% do exceptions.raise_compiler_error(
                this.identifier ~ ': --empty would create an empty table and checkpoints that say it is built. '
                ~ 'Use separate schemas: `TIDEMARK_SCHEMA=empty dbt run --empty`.'
            ) %}
        {% endif %}
        {% set query = dbt.checked_query(sql) %}
        {% do dbt.check_rebuilt_columns(existing, query) %}
        {% if existing is not none and not existing.is_table %}
            {% do adapter.drop_relation(existing) %}
        {% endif %}
        {% do dbt.create_from(this, query) %}
        {% do persist_docs(this, model) %}
        {% do dbt.forget_table_state(this) %}
    {% elif dbt.has_nothing_new(model) %}
        {% do dbt.report_nothing_new(this, sql) %}
    {% else %}
        {% set query = dbt.conformed(this, dbt.checked_query(sql)) %}
        {% if query is none %}  {# the table was rebuilt #}
        {% elif dbt.is_plain(model) %}
            {% do dbt.write_changes(this, query) %}
        {% elif config.get('incremental_strategy') == 'insert_overwrite' %}
            {% do dbt.overwrite_partitions(this, query) %}
        {% else %}
            {% do dbt.merge_into(this, query) %}
        {% endif %}
    {% endif %}
    {% if existing is not none and not dbt.rebuilt_range() and not var('rebuild_plan', false) and not dbt.reads_in_full(model) and dbt.is_redeclared() %}
        {% do persist_docs(this, model) %}
        {% do dbt.forget_table_state(this) %}
    {% endif %}
    {% do dbt.grant_as_set(this, existing) %}
    {{ run_hooks(post_hooks) }}
    {% if pre_hooks or post_hooks %}
        {# what hooks wrote is a part of the run; the state that its checkpoints tell is that before the hooks #}
        {% do dbt.run_state('after').update({model.unique_id: dbt.by_format('table_state')(this).version}) %}
    {% endif %}
    {{ return({'relations': [this]}) }}
{% endmaterialization %}
