{# Makes the table equal to the query: keys that the query does not return are deleted, and nothing is committed if nothing
   differs. Rows of a model that accumulates stay. #}
{% macro write_difference(relation, query) %}
    {% if not query['keys'] %}
        {% do dbt.write_bag(relation, query) %}
    {% else %}
        {% if not dbt.way_of(model).accumulates %}
            {% do dbt.refuse_loss(relation, query) %}
        {% endif %}
        {% do dbt.commit_change(relation, dbt.writer(relation, query).equal()) %}
    {% endif %}
{% endmacro %}
