{{ config(unique_key=['_batch_id', '_row_id']) }}

{{ rejections(staged_device_events(changes(source('bronze', 'device_events')))) }}
