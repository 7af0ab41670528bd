{#- The customers who have an order updated after the newest one counted here, each added up anew from all of
    their orders. -#}
{{ config(unique_key='customer_id', schema='gold') }}

with orders as (
    select *
    from {{ ref('orders') }}
    {% if is_incremental() %}
        where customer_id in (
            select customer_id
            from {{ ref('orders') }}
            where updated_at > (select max(updated_at) from {{ this }})
        )
    {% endif %}
)

select
    customer_id,
    count(*) as orders,
    sum(quantity) as quantity,
    sum(amount) as amount,
    min(order_date) as first_order_date,
    max(order_date) as last_order_date,
    max(updated_at) as updated_at
from orders
group by customer_id
