{# The types of a table's columns by column name, in table order. #}
{% macro tidemark__columns_of(relation) %}
    {% set log = dbt.tidemark__log_of(relation) %}
    {% if log %}
        {{ return(log.columns) }}
    {% endif %}
    {% set found = {} %}
    {% for column in adapter.get_columns_in_relation(relation) %}
        {% do found.update({column.name: column.dtype}) %}
    {% endfor %}
    {{ return(found) }}
{% endmacro %}

{# A Delta table's log, if this process has it open; else none. #}
{% macro tidemark__log_of(relation) %}
    {{ return(adapter.delta_log(dbt.tidemark__table_name(relation)) if dbt.tidemark__table_format() == 'delta' else none) }}
{% endmacro %}
