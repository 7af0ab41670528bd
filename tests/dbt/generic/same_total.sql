{# The column adds up to an aggregate of the model below it. #}
{% test same_total(model, column_name, of, expression) %}
    with totals as (
        select
            (select sum({{ column_name }}) from {{ model }}) as total,
            (select {{ expression }} from {{ of }}) as expected_total
    )

    select *
    from totals
    where coalesce(total, 0) != coalesce(expected_total, 0)
{% endtest %}
