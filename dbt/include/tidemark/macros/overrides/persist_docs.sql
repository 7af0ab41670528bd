{# Stock dbt-spark queries the columns and runs one ALTER (one commit) per column in every run. This runs a single ALTER, and
   only if a comment differs. #}
{% macro tidemark__persist_docs(relation, model, for_relation, for_columns) %}
    {% if for_columns and config.persist_column_docs() and model.columns and dbt.tidemark__is_of_lake(model) %}
        {% set present = dbt.tidemark__comments_of(relation) %}
        {% set changes = [] %}
        {% for name, column in validate_doc_columns(relation, model.columns, present | list).items()
            if column.description != present.get(name, '') %}
            {% do changes.append(name ~ " comment '" ~ dbt.tidemark__escaped(column.description) ~ "'") %}
        {% endfor %}
        {% if changes %}
            {% do run_query('alter table ' ~ relation ~ ' alter column ' ~ changes | join(', ')) %}
        {% endif %}
    {% endif %}
{% endmacro %}

{# The comments of a table's columns by column name. A column without a comment has an empty text. #}
{% macro tidemark__comments_of(relation) %}
    {% set log = dbt.tidemark__log_of(relation) %}
    {% if log %}
        {{ return(log.comments) }}
    {% endif %}
    {% set found = {} %}
    {% for row in run_query('describe table ' ~ relation) %}
        {% do found.update({row['col_name']: row['comment'] or ''}) %}
    {% endfor %}
    {{ return(found) }}
{% endmacro %}
