{# Replaces the partitions that the query names, if they differ from the present ones. #}
{% macro tidemark__overwrite_partitions(relation, query) %}
    {% do dbt.tidemark__commit_change(relation, dbt.tidemark__writer(relation, query).replaced_partitions()) %}
{% endmacro %}
