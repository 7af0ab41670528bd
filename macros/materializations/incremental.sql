{# Stock dbt-spark cannot skip, delete, keep NULL keys apart or say what it wrote; this can. #}
{% materialization incremental, adapter='spark', supported_languages=['sql'] %}
    {% set existing = load_relation(this) %}
    {{ run_hooks(pre_hooks) }}
    {% if existing is none or should_full_refresh() or tidemark.reads_whole(model) %}
        {% do tidemark.create_from(this, tidemark.checked_query(sql)) %}
        {% do persist_docs(this, model) %}
    {% elif tidemark.has_nothing_new(model) %}
        {% do tidemark.say_written() %}
    {% else %}
        {% set query = tidemark.checked_query(sql) %}
        {% do tidemark.check_table(this, query) %}
        {% do tidemark.merge_into(this, query) %}
        {% do persist_docs(this, model) %}
    {% endif %}
    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [this]}) }}
{% endmaterialization %}
