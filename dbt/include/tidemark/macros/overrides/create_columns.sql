{# dbt-spark takes the columns by which dbt compares a key of several columns for new columns of the source. #}
{% macro tidemark__create_columns(relation, columns) %}
    {% set own = [] %}
    {% for column in columns if not modules.re.fullmatch('dbt_unique_key_[0-9]+', column.name) %}
        {% do own.append(column) %}
    {% endfor %}
    {% do return(dbt.spark__create_columns(relation, own)) %}
{% endmacro %}
