{{ config(unique_key='order_date') }}

with touched_days as (
    select * from {{ touched_keys(ref('orders'), 'order_date') }}
),

orders as (
    select * from {{ pinned(ref('orders'), touched='order_date') }}
),

daily as (
    select
        touched_days.order_date,
        count(orders.order_id) as order_count,
        sum(orders.amount) as amount,
        count(orders.order_id) = 0 as _is_deleted
    from touched_days
    left join orders
        on touched_days.order_date = orders.order_date
    group by touched_days.order_date
)

select * from daily
