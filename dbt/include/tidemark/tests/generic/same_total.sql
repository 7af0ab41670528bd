{# The column adds up to the sum of `value` over what the model has read of `of`. Only changes since the test last
   passed are added up: the totals were equal then. #}
{% test same_total(model, column_name, of, value) %}
    {% if execute %}
    {% set rows = dbt.tidemark__signed_rows([{'relation': model}, {'relation': of, 'read_by': model}]) %}
    with totals as (
        select
            (select sum(_sign * {{ column_name }}) from {{ rows[0] }}) as total,
            (select sum(_sign * ({{ value }})) from {{ rows[1] }}) as expected_total
    )

    select *
    from totals
    where coalesce(total, 0) != coalesce(expected_total, 0)
    {% endif %}
{% endtest %}
