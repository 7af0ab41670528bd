{{ config(unique_key=['_batch_id', '_row_number']) }}

{{ rejections(staged_<< feed.name >>(changes(source('bronze', '<< feed.name >>')))) }}
