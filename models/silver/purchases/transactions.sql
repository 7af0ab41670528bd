{{ config(unique_key='transaction_id') }}

with staged as (
    select * from {{ changes(ref('stg_transactions')) }}
),

newest as (
    {{ newest_of('staged') }}
),

final as (
    select
        transaction_id,
        customer_id,
        transaction_date,
        quantity,
        amount,
        _versions
    from newest
)

select * from final
