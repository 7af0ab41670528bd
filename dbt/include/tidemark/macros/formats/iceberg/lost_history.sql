{% macro iceberg_words_of_loss(name, checkpoint) %}
    {{ return(name ~ ' was replaced after snapshot ' ~ checkpoint.version ~ ' was read, or that snapshot was expired') }}
{% endmacro %}

{# Snapshots hold all changes. History is only lost if a source that is read as append-only was changed. #}
{% macro iceberg_lost_history(relation, checkpoint, now, is_landed) %}
    {% for commit in dbt.commits_since(relation, checkpoint.version) if is_landed and not commit.keeps_rows and not commit.adds_rows %}
        {{ return(
            dbt.table_name(relation) ~ ' is append-only, but had a snapshot that is an ' ~ commit.operation ~ ' after snapshot ' ~ checkpoint.version
        ) }}
    {% endfor %}
    {{ return(none) }}
{% endmacro %}
