{# Merges newest-wins by null-safe keys. #}
{% macro tidemark__merge_into(relation, query) %}
    {% do dbt.tidemark__commit_change(relation, dbt.tidemark__writer(relation, query).merged()) %}
{% endmacro %}
