{# True if the tables that changed had the same columns at the model's last run. #}
{% macro keeps_columns() %}
    {% for window in dbt.run_state('joined')[model.unique_id].values() if window.state == 'incremental' %}
        {% set relation = dbt.relation_named(window.source) %}
        {% set before = [] %}
        {% for column in get_column_schema_from_query('select * from ' ~ dbt.as_of(relation, window.after)) %}
            {% do before.append(column.name) %}
        {% endfor %}
        {% if before != dbt.columns_of(relation) | list %}
            {{ return(false) }}
        {% endif %}
    {% endfor %}
    {{ return(true) }}
{% endmacro %}
