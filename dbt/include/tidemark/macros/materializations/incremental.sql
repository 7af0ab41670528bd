{# Unlike stock dbt-spark, this can skip a model, delete rows, match NULL keys and report what it wrote. #}
{% materialization incremental, adapter='tidemark', supported_languages=['sql', 'python'] %}
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
        {% do dbt.forget_table(this) %}
    {% endif %}
    {% do dbt.note_joined_tables() %}
    {% do dbt.write_model(existing, sql) %}
    {% do dbt.grant_as_set(this, existing) %}
    {{ run_hooks(post_hooks) }}
    {% if pre_hooks or post_hooks %}
        {# rows written by hooks belong to the run; its checkpoints hold the state before the hooks #}
        {% do dbt.run_state('after').update({model.unique_id: adapter.version_now(this)}) %}
    {% endif %}
    {{ return({'relations': [this]}) }}
{% endmaterialization %}
