{# Merges newest-wins by null-safe keys. #}
{% macro merge_into(relation, query) %}
    {% do dbt.commit_change(relation, dbt.writer(relation, query).merged()) %}
{% endmacro %}
