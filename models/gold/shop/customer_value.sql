{{ config(unique_key='customer_id') }}

with touched as (
    select * from {{ touched_keys(ref('customers'), 'customer_id') }}
    union
    select * from {{ touched_keys(ref('customer_orders'), 'customer_id') }}
),

customers as (
    select * from {{ pinned(ref('customers')) }}
    where not _is_deleted
),

-- totals by customer, so no orders are read again
customer_orders as (
    select * from {{ pinned(ref('customer_orders')) }}
),

valued as (
    select
        touched.customer_id,
        customers.name,
        cast(customers.created_at as date) as signed_up_date,
        coalesce(customer_orders.order_count, 0) as order_count,
        coalesce(customer_orders.amount, 0) as amount,
        cast(customer_orders.amount / customer_orders.order_count as decimal(31, 2)) as mean_order_amount,
        customer_orders.first_order_date,
        customer_orders.last_order_date,
        customers.customer_id is null as _is_deleted
    from touched
    left join customers
        on touched.customer_id = customers.customer_id
    left join customer_orders
        on touched.customer_id = customer_orders.customer_id
)

select * from valued
