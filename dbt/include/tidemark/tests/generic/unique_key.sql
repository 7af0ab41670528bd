{# No two rows share these columns; NULL counts as a value. #}
{% test unique_key(model, columns) %}
    {{ dbt.repeated_keys(model, columns) }}
{% endtest %}
