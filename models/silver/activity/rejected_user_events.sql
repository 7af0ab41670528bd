{{ config(unique_key=['_batch_id', '_row_number']) }}

{{ rejections(staged_user_events(changes(source('bronze', 'user_events')))) }}
