{{ config(unique_key='customer_id', schema='gold') }}

select
    customer_id,
    count(*) as orders,
    sum(quantity) as quantity,
    sum(amount) as amount,
    min(order_date) as first_order_date,
    max(order_date) as last_order_date
from {{ ref('orders') }}
group by customer_id
