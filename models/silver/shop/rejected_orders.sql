{{ config(unique_key=['_batch_id', '_row_id']) }}

{{ rejections(staged_orders(changes(source('bronze', 'orders')))) }}
