{{ config(
    unique_key=['device_id', 'event_ts'],
    partition_by='event_date',
    meta={'newest_by': ['ingest_ts', 'event_id'], 'prune_by': {'event_date': 'cast(event_ts as date)'}}
) }}

with staged as (
    select * from {{ changes(ref('stg_device_events')) }}
),

newest as (
    {{ newest_of('staged') }}
),

final as (
    select
        device_id,
        event_ts,
        cast(event_ts as date) as event_date,
        event_id,
        temperature,
        battery,
        status,
        firmware,
        ingest_ts,
        _versions
    from newest
)

select * from final
