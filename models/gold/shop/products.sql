{{ config(unique_key='product_name') }}

with touched as (
    select * from {{ touched_keys(ref('daily_product_sales'), 'product_name') }}
),

-- one row per day and product, so no orders are read again
daily as (
    select * from {{ pinned(ref('daily_product_sales')) }}
),

sold as (
    select
        touched.product_name,
        max_by(daily.highest_price, daily.order_date) as price,
        sum(daily.order_count) as order_count,
        sum(daily.quantity) as quantity,
        sum(daily.amount) as amount,
        min(daily.order_date) as first_order_date,
        max(daily.order_date) as last_order_date,
        count(daily.order_date) = 0 as _is_deleted
    from touched
    left join daily
        on touched.product_name = daily.product_name
    group by touched.product_name
)

select * from sold
