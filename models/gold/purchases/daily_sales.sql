{{ config(unique_key='sales_date') }}

with transactions as (
    select * from {{ ref('transactions') }}
),

daily as (
    select
        transaction_date as sales_date,
        count(*) as transaction_count,
        count(distinct customer_id) as customer_count,
        sum(quantity) as quantity,
        sum(amount) as amount
    from transactions
    group by transaction_date
)

select * from daily
