{{ config(unique_key='movement_id', meta={'newest_by': 'sequence'}) }}

with staged as (
    select * from {{ changes(ref('stg_inventory_movements')) }}
),

newest as (
    {{ newest_of('staged') }}
),

final as (
    select
        movement_id,
        product_name,
        warehouse,
        quantity,
        moved_at,
        changed_at,
        sequence,
        change_type = 'delete' as _is_deleted,
        _versions
    from newest
)

select * from final
