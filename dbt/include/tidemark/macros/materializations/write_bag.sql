{# Makes the table equal to a query without a key, by which rows could be merged: equal rows count as often as they occur. The
   table is replaced if it differs. #}
{% macro tidemark__write_bag(relation, query) %}
    {% do dbt.tidemark__refuse_loss(relation, query) %}
    {% do dbt.tidemark__check_cost() %}
    {% if dbt.tidemark__writer(relation, query).differs() %}
        {% do dbt.tidemark__replace_table(query) %}
    {% else %}
        {% do dbt.tidemark__report_written({}) %}
    {% endif %}
{% endmacro %}
