{# Every value is there and lies between the bounds, which are included. #}
{% test in_range(model, column_name, at_least=none, at_most=none) %}
    select {{ column_name }}
    from {{ model }}
    where
        {{ column_name }} is null
        {% if at_least is not none %}or {{ column_name }} < {{ at_least }}{% endif %}
        {% if at_most is not none %}or {{ column_name }} > {{ at_most }}{% endif %}
{% endtest %}
