{# True if the tables that changed had the same columns, of the same types, at the model's last run. #}
{% macro tidemark__keeps_columns() %}
    {% for window in dbt.tidemark__run_state('joined')[model.unique_id].values() if window.state == 'incremental' %}
        {% set relation = dbt.tidemark__relation_named(window.source) %}
        {% set before, now = [], [] %}
        {% for found, version in ((before, window.after), (now, window.last)) %}
            {% for column in get_column_schema_from_query('select * from ' ~ dbt.tidemark__as_of(relation, version)) %}
                {% do found.append([column.name, column.dtype]) %}
            {% endfor %}
        {% endfor %}
        {% if before != now %}
            {{ return(false) }}
        {% endif %}
    {% endfor %}
    {{ return(true) }}
{% endmacro %}
