{# The column adds up to an aggregate of what the model has read of the one below it. #}
{% test same_total(model, column_name, of, expression) %}
    with totals as (
        select
            (select sum({{ column_name }}) from {{ model }}) as total,
            (select {{ expression }} from {{ tidemark.consumed(of, by=model) }}) as expected_total
    )

    select *
    from totals
    where coalesce(total, 0) != coalesce(expected_total, 0)
{% endtest %}
