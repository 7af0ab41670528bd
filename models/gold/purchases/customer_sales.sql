{{ config(unique_key='customer_id') }}

with transactions as (
    select * from {{ ref('transactions') }}
),

customers as (
    select
        customer_id,
        count(*) as transaction_count,
        sum(quantity) as quantity,
        sum(amount) as amount,
        min(transaction_date) as first_purchase_date,
        max(transaction_date) as last_purchase_date
    from transactions
    group by customer_id
)

select * from customers
