{# Stock dbt-spark does not escape backslashes. #}
{% macro tidemark__comment_clause() %}
    {% if config.persist_relation_docs() and model.description %}
        comment '{{ dbt.tidemark__escaped(model.description | trim) }}'
    {% endif %}
{% endmacro %}
