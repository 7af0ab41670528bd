{{ config(unique_key='order_date', schema='gold') }}

select
    order_date,
    count(*) as orders,
    count(distinct customer_id) as customers,
    sum(quantity) as quantity,
    sum(amount) as amount
from {{ ref('orders') }}
group by order_date
