{# Unlike stock dbt-spark, this can skip a model, delete rows, match NULL keys and report what it wrote. #}
{% materialization incremental, adapter='spark', supported_languages=['sql'] %}
    {% do tidemark.check_sql() %}
    {% set existing = load_relation(this) %}
    {{ run_hooks(pre_hooks) }}
    {% if pre_hooks %}
        {% do tidemark.forget_table_state(this) %}
    {% endif %}
    {% do tidemark.note_joined_tables() %}
    {% if tidemark.rebuilt_range() %}
        {% do tidemark.rebuild_range(this, tidemark.checked_query(sql)) %}
    {% elif existing is none or should_full_refresh() or tidemark.reads_whole(model) %}
        {% if flags.EMPTY and tidemark.own_marks() %}
            {% do exceptions.raise_compiler_error(
                this.identifier ~ ': --empty would create an empty table and checkpoints that say it is built. '
                ~ 'Use separate schemas: `TIDEMARK_SCHEMA=empty dbt run --empty`.'
            ) %}
        {% endif %}
        {% do tidemark.create_from(this, tidemark.checked_query(sql)) %}
        {% do persist_docs(this, model) %}
        {% do tidemark.forget_table_state(this) %}
    {% elif tidemark.has_nothing_new(model) %}
        {% if tidemark.is_redeclared() %}
            {% do tidemark.check_table(this, tidemark.checked_query(sql)) %}
        {% endif %}
        {% do tidemark.say_written({}) %}
    {% else %}
        {% set query = tidemark.checked_query(sql) %}
        {% do tidemark.check_table(this, query) %}
        {% if tidemark.is_plain(model) %}
            {% do tidemark.write_difference(this, query) %}
        {% elif config.get('incremental_strategy') == 'insert_overwrite' %}
            {% do tidemark.overwrite_partitions(this, query) %}
        {% else %}
            {% do tidemark.merge_into(this, query) %}
        {% endif %}
    {% endif %}
    {% if existing is not none and not tidemark.rebuilt_range() and not tidemark.reads_whole(model) and tidemark.is_redeclared() %}
        {% do persist_docs(this, model) %}
        {% do tidemark.forget_table_state(this) %}
    {% endif %}
    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [this]}) }}
{% endmaterialization %}
