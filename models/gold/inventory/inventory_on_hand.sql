{{ config(unique_key=['product_name', 'warehouse']) }}

with inventory_movements as (
    select * from {{ ref('inventory_movements') }}
    where not _is_deleted
),

on_hand as (
    select
        product_name,
        warehouse,
        count(*) as movement_count,
        sum(quantity) as quantity_on_hand,
        max(moved_at) as last_moved_at
    from inventory_movements
    group by product_name, warehouse
)

select * from on_hand
