{{ config(unique_key=['order_date', 'product_name']) }}

with touched as (
    select * from {{ touched_keys(ref('orders'), ['order_date', 'product_name']) }}
),

orders as (
    select * from {{ pinned(ref('orders'), touched='order_date') }}
    where not _is_deleted
),

daily as (
    select
        touched.order_date,
        touched.product_name,
        count(orders.order_id) as order_count,
        sum(orders.quantity) as quantity,
        sum(orders.quantity * orders.price) as amount,
        max(orders.price) as highest_price,
        count(orders.order_id) = 0 as _is_deleted
    from touched
    left join orders
        on
            touched.order_date = orders.order_date
            and touched.product_name = orders.product_name
    group by touched.order_date, touched.product_name
)

select * from daily
