{{ config(unique_key='customer_id') }}

with customers as (
    select * from {{ ref('customers') }}
    where not _is_deleted
),

-- totals by customer, so no orders are read again
customer_orders as (
    select * from {{ ref('customer_orders') }}
),

valued as (
    select
        customers.customer_id,
        customers.name,
        cast(customers.created_at as date) as signed_up_date,
        coalesce(customer_orders.order_count, 0) as order_count,
        coalesce(customer_orders.amount, 0) as amount,
        cast(customer_orders.amount / customer_orders.order_count as decimal(31, 2)) as mean_order_amount,
        customer_orders.first_order_date,
        customer_orders.last_order_date
    from customers
    left join customer_orders
        on customers.customer_id = customer_orders.customer_id
)

select * from valued
