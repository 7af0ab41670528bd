{{ config(unique_key='customer_id', meta={'newest_by': 'read_at'}) }}

with staged as (
    select * from {{ changes(ref('stg_customers')) }}
),

newest as (
    {{ newest_of('staged') }}
),

final as (
    select
        customer_id,
        name,
        email,
        created_at,
        updated_at,
        read_at,
        _is_deleted,
        _versions
    from newest
)

select * from final
