{# dbt-spark returns the rows of `describe`, in which dbt's snapshots find no name: a record of a deletion had NULL in all columns. #}
{% macro tidemark__get_columns_in_relation(relation) %}
    {% do return(adapter.get_columns_in_relation(relation)) %}
{% endmacro %}

{# dbt-spark takes the columns by which dbt compares a key of several columns for new columns of the source. #}
{% macro tidemark__create_columns(relation, columns) %}
    {% set own = [] %}
    {% for column in columns if not modules.re.fullmatch('dbt_unique_key_[0-9]+', column.name) %}
        {% do own.append(column) %}
    {% endfor %}
    {% do return(dbt.spark__create_columns(relation, own)) %}
{% endmacro %}
