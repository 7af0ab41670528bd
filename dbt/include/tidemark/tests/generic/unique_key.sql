{# No two rows share these columns; NULL counts as a value. #}
{% test unique_key(model, columns) %}
    {% if execute %}
    {{ dbt.tidemark__repeated_keys(model, columns) }}
    {% endif %}
{% endtest %}
