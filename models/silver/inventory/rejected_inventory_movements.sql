{{ config(unique_key=['_batch_id', '_row_number']) }}

{{ rejections(staged_inventory_movements(changes(source('bronze', 'inventory_movements')))) }}
