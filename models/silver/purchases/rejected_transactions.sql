{{ config(unique_key=['_batch_id', '_row_number']) }}

{{ rejections(staged_transactions(changes(source('bronze', 'transactions')))) }}
