{{ config(unique_key='product_name') }}

-- one row per day and product, so no orders are read again
with daily as (
    select * from {{ ref('daily_product_sales') }}
),

sold as (
    select
        product_name,
        max_by(highest_price, order_date) as price,
        sum(order_count) as order_count,
        sum(quantity) as quantity,
        sum(amount) as amount,
        min(order_date) as first_order_date,
        max(order_date) as last_order_date
    from daily
    group by product_name
)

select * from sold
