{{ config(unique_key=['order_date', 'channel']) }}

with orders as (
    select * from {{ ref('orders') }}
    where not _is_deleted
),

daily as (
    select
        order_date,
        channel,
        count(*) as order_count,
        sum(quantity) as quantity,
        sum(quantity * price) as amount
    from orders
    group by order_date, channel
)

select * from daily
