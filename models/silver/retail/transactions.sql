{{ config(unique_key='transaction_id') }}

with staged as (
    {{ staged_transactions(changes(source('bronze', 'transactions'))) }}
),

accepted as (
    select
        *,
        row_number() over (partition by transaction_id order by {{ landing_order() }}) as newest_rank,
        count(*) over (partition by transaction_id) as _versions
    from staged
    where rejection_reason is null
),

newest as (
    select
        transaction_id,
        customer_id,
        transaction_date,
        quantity,
        amount,
        _versions
    from accepted
    where newest_rank = 1
)

select * from newest
