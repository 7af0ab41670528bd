{{ config(unique_key='order_id', meta={'newest_by': 'read_at'}) }}

with staged as (
    select * from {{ changes(ref('stg_orders')) }}
),

newest as (
    {{ newest_of('staged') }}
),

final as (
    select
        order_id,
        customer_id,
        product_name,
        channel,
        quantity,
        price,
        order_date,
        updated_at,
        read_at,
        _is_deleted,
        _versions
    from newest
)

select * from final
