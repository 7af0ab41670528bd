{{ config(unique_key=['_batch_id', '_row_id']) }}

with staged as (
    {{ staged_device_events(changes(source('bronze', 'device_events'))) }}
),

rejected as (
    select
        rejection_reason,
        raw_record,
        _corrupt_record,
        _source_file,
        _batch_id,
        _row_id,
        _ingested_at
    from staged
    where rejection_reason is not null
)

select * from rejected
