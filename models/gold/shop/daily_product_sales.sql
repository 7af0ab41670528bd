{{ config(unique_key=['order_date', 'product_name']) }}

with orders as (
    select * from {{ ref('orders') }}
    where not _is_deleted
),

daily as (
    select
        order_date,
        product_name,
        count(*) as order_count,
        sum(quantity) as quantity,
        sum(quantity * price) as amount,
        max(price) as highest_price
    from orders
    group by order_date, product_name
)

select * from daily
