{{ config(unique_key=['_batch_id', '_row_id']) }}

with staged as (
    {{ staged_<< feed.name >>(changes(source('bronze', '<< feed.name >>'))) }}
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
