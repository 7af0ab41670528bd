{{ config(unique_key='sales_date') }}

with touched_days as (
    select * from {{ touched_keys(ref('transactions'), 'transaction_date') }}
),

transactions as (
    select * from {{ pinned(ref('transactions'), touched='transaction_date') }}
),

daily as (
    select
        touched_days.transaction_date as sales_date,
        count(transactions.transaction_id) as transaction_count,
        count(distinct transactions.customer_id) as customer_count,
        sum(transactions.quantity) as quantity,
        sum(transactions.amount) as amount,
        count(transactions.transaction_id) = 0 as _is_deleted
    from touched_days
    left join transactions
        on touched_days.transaction_date = transactions.transaction_date
    group by touched_days.transaction_date
)

select * from daily
