{#- The days that have an order updated after the newest one counted here, each added up anew. -#}
{{ config(unique_key='order_date', schema='gold') }}

with orders as (
    select *
    from {{ ref('orders') }}
    {% if is_incremental() %}
        where order_date in (
            select order_date
            from {{ ref('orders') }}
            where updated_at > (select max(updated_at) from {{ this }})
        )
    {% endif %}
)

select
    order_date,
    count(*) as orders,
    count(distinct customer_id) as customers,
    sum(quantity) as quantity,
    sum(amount) as amount,
    max(updated_at) as updated_at
from orders
group by order_date
