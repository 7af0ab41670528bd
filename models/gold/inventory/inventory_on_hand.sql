{{ config(unique_key=['product_name', 'warehouse']) }}

-- the stock is the sum of all movements, so the changes are folded into it
with on_hand as (
    {{ folded(ref('inventory_movements'), by=['product_name', 'warehouse'], where='not _is_deleted', measures={
        'movement_count': 'count(*)',
        'quantity_on_hand': 'sum(quantity)',
        'last_moved_at': 'max(moved_at)',
    }) }}
)

select * from on_hand
