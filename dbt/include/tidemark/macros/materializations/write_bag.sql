{# Makes the table equal to a query without a key, by which rows could be merged: equal rows count as often as they occur. The
   table is replaced if it differs. #}
{% macro write_bag(relation, query) %}
    {% do dbt.refuse_loss(relation, query) %}
    {% do dbt.check_cost() %}
    {% if dbt.writer(relation, query).differs() %}
        {% do dbt.replace_table(query) %}
    {% else %}
        {% do dbt.report_written({}) %}
    {% endif %}
{% endmacro %}
