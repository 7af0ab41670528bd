{{ config(unique_key='customer_id') }}

with touched_customers as (
    select * from {{ touched_keys(ref('transactions'), 'customer_id') }}
),

transactions as (
    select * from {{ pinned(ref('transactions')) }}
),

customers as (
    select
        touched_customers.customer_id,
        count(transactions.transaction_id) as transactions,
        sum(transactions.quantity) as quantity,
        sum(transactions.amount) as amount,
        min(transactions.transaction_date) as first_purchase_date,
        max(transactions.transaction_date) as last_purchase_date,
        count(transactions.transaction_id) = 0 as _is_deleted
    from touched_customers
    left join transactions
        on touched_customers.customer_id = transactions.customer_id
    group by touched_customers.customer_id
)

select * from customers
