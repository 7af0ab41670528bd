{{ config(
    unique_key=['device_id', 'event_ts'],
    partition_by='event_date',
    meta={'newest_by': ['ingest_ts', 'event_id'], 'prune_by': {'event_date': 'cast(event_ts as date)'}}
) }}

with staged as (
    {{ staged_device_events(changes(source('bronze', 'device_events'))) }}
),

accepted as (
    select
        *,
        row_number() over (
            partition by device_id, event_ts order by ingest_ts desc, event_id desc, {{ landing_order() }}
        ) as newest_rank,
        count(*) over (partition by device_id, event_ts) as _versions
    from staged
    where rejection_reason is null
),

newest as (
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
    from accepted
    where newest_rank = 1
)

select * from newest
