with source as (
    select * from {{ source('bronze', 'user_events') }}
),

typed as (
    select
        nullif(trim(event_id), '') as event_id,
        nullif(trim(user_id), '') as user_id,
        nullif(trim(event_type), '') as event_type,
        try_to_timestamp(event_at, "yyyy-MM-dd'T'HH:mm:ssXXX") as event_at,
        try_to_timestamp(updated_at, "yyyy-MM-dd'T'HH:mm:ssXXX") as updated_at,
        coalesce(nullif(trim(device), ''), 'unknown') as device,
        to_json(struct(event_id, user_id, event_type, event_at, updated_at, device)) as raw_record,
        _corrupt_record,
        _source_file,
        _source_modified_at,
        _row_number,
        _batch_id,
        _ingested_at
    from source
),

checked as (
    select
        *,
        {{ rejection_reason([
            ('_corrupt_record is not null', 'the line does not fit its header or is not UTF-8'),
            ('event_id is null', 'event_id is missing'),
            ('user_id is null', 'user_id is missing'),
            ('event_type is null', 'event_type is missing'),
            ('event_at is null', 'event_at is not a UTC time (yyyy-MM-ddTHH:mm:ssZ)'),
            ('updated_at is null', 'updated_at is not a UTC time (yyyy-MM-ddTHH:mm:ssZ)'),
        ]) }} as rejection_reason
    from typed
)

select * from checked
