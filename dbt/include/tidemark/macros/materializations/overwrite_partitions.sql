{# Replaces the partitions that the query names, if they differ from the present ones. #}
{% macro overwrite_partitions(relation, query) %}
    {% do dbt.commit_change(relation, dbt.writer(relation, query).replaced_partitions()) %}
{% endmacro %}
