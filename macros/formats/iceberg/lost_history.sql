{% macro iceberg_words_of_loss(name, mark) %}
    {{ return(name ~ ' was replaced after snapshot ' ~ mark.version ~ ' was read, or that snapshot was expired') }}
{% endmacro %}

{# Why the snapshots after one do not give all that happened, in words, or none. #}
{% macro iceberg_lost_history(relation, mark, now, is_landed) %}
    {% set name = tidemark.table_name(relation) %}
    {% for commit in tidemark.commits_since(relation, mark.version) if not commit.keeps_rows and not commit.adds_rows %}
        {% if is_landed %}
            {{ return(name ~ ' is append-only, but had a snapshot that is an ' ~ commit.operation ~ ' after snapshot ' ~ mark.version) }}
        {% endif %}
    {% endfor %}
    {{ return(none) }}
{% endmacro %}
