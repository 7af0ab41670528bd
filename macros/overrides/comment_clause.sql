{# Stock dbt-spark does not escape backslashes. #}
{% macro spark__comment_clause() %}
    {% if config.persist_relation_docs() and model.description %}
        comment '{{ tidemark.escaped(model.description | trim) }}'
    {% endif %}
{% endmacro %}
