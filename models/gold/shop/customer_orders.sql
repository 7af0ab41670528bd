{{ config(unique_key='customer_id') }}

with orders as (
    select * from {{ ref('orders') }}
    where not _is_deleted
),

customers as (
    select
        customer_id,
        count(*) as order_count,
        sum(quantity) as quantity,
        sum(quantity * price) as amount,
        min(order_date) as first_order_date,
        max(order_date) as last_order_date
    from orders
    group by customer_id
)

select * from customers
