with source as (
    select * from {{ source('bronze', 'device_events') }}
),

typed as (
    select
        nullif(trim(event_id), '') as event_id,
        nullif(trim(device_id), '') as device_id,
        event_ts,
        temperature,
        battery,
        status,
        firmware,
        ingest_ts,
        to_json(struct(
            event_id, device_id, event_ts, temperature, battery, status, firmware, ingest_ts, _rescued_data
        )) as raw_record,
        _rescued_data,
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
            ('_corrupt_record is not null', 'the line is not one sound JSON object'),
            ('event_id is null', 'event_id is missing'),
            ('device_id is null', 'device_id is missing'),
            ('event_ts is null', 'event_ts is not a time', rescued_value('event_ts')),
            ('ingest_ts is null', 'ingest_ts is not a time', rescued_value('ingest_ts')),
            (
                rescued_value('temperature') ~ " != ''",
                'temperature is not a number with at most 2 decimals',
                rescued_value('temperature'),
            ),
            (
                'battery is null or battery not between 0 and 100',
                'battery is not between 0 and 100',
                'coalesce(cast(battery as string), ' ~ rescued_value('battery') ~ ')',
            ),
        ]) }} as rejection_reason
    from typed
)

select * from checked
