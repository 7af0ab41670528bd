{{ config(unique_key=['_batch_id', '_row_id']) }}

{{ rejections(staged_transactions(changes(source('bronze', 'transactions')))) }}
