{{ config(unique_key='movement_id', meta={'newest_by': 'sequence'}) }}

with staged as (
    {{ staged_inventory_movements(changes(source('bronze', 'inventory_movements'))) }}
),

accepted as (
    select
        *,
        row_number() over (partition by movement_id order by sequence desc, {{ landing_order() }}) as newest_rank,
        count(*) over (partition by movement_id) as _versions
    from staged
    where rejection_reason is null
),

newest as (
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
    from accepted
    where newest_rank = 1
)

select * from newest
