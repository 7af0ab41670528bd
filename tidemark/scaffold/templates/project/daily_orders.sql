{{ config(unique_key='order_date') }}

with orders as (
    select * from {{ ref('orders') }}
),

daily as (
    select
        order_date,
        count(*) as order_count,
        sum(amount) as amount
    from orders
    group by order_date
)

select * from daily
