{{ config(unique_key=['_batch_id', '_row_number']) }}

{{ rejections(staged_device_events(changes(source('bronze', 'device_events')))) }}
