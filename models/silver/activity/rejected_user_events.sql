{{ config(unique_key=['_batch_id', '_row_number']) }}

with staged as (
    select * from {{ changes(ref('stg_user_events')) }}
),

rejected as (
    {{ rejections('staged') }}
)

select * from rejected
