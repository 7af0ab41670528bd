{# Makes the table equal to the query: rows that the query does not return are deleted, and nothing is committed if nothing
   differs. Rows of a model that accumulates stay. #}
{% macro tidemark__write_difference(relation, query) %}
    {% if not dbt.tidemark__way_of(model).accumulates %}
        {% do dbt.tidemark__refuse_loss(relation, query) %}
    {% endif %}
    {% do dbt.tidemark__commit_change(relation, dbt.tidemark__writer(relation, query).equal()) %}
{% endmacro %}
