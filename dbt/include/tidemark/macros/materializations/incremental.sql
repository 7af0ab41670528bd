{# Unlike stock dbt-spark, this can skip a model, delete rows, match NULL keys and report what it wrote. #}
{% materialization incremental, adapter='tidemark', supported_languages=['sql', 'python'] %}
    {% do dbt.tidemark__check_settings() %}
    {% do dbt.tidemark__check_sql() %}
    {% do dbt.tidemark__measure_cost() %}
    {% do dbt.tidemark__note_version_before(model, this) %}
    {% do dbt.tidemark__run_sql_header() %}
    {% if dbt.tidemark__way_of(model).is_stock %}
        {{ return(dbt.tidemark__run_as_stock()) }}
    {% endif %}
    {% set existing = load_relation(this) %}
    {{ run_hooks(pre_hooks) }}
    {% if pre_hooks %}
        {% do dbt.tidemark__forget_table(this) %}
    {% endif %}
    {% do dbt.tidemark__note_joined_tables() %}
    {% do dbt.tidemark__write_model(existing, sql) %}
    {% do dbt.tidemark__grant_as_set(this, existing) %}
    {{ run_hooks(post_hooks) }}
    {% if pre_hooks or post_hooks %}
        {# rows written by hooks belong to the run; its checkpoints hold the state before the hooks #}
        {% do dbt.tidemark__run_state('after').update({model.unique_id: adapter.version_now(this)}) %}
    {% endif %}
    {{ return({'relations': [this]}) }}
{% endmaterialization %}
