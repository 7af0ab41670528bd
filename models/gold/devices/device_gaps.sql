{{ config(
    incremental_strategy='insert_overwrite',
    partition_by='event_date',
    unique_key=['event_date', 'device_id', 'silent_from']
) }}

with touched_days as (
    select * from {{ touched_keys(ref('device_hours'), 'event_date') }}
),

device_hours as (
    select * from {{ pinned(ref('device_hours'), touched='event_date') }}
),

-- a gap of an hour or more lies between the last reading of one hour with readings and the first of the next
silences as (
    select
        event_date,
        device_id,
        last_event_ts as silent_from,
        lead(first_event_ts) over (partition by event_date, device_id order by hour_of_day) as silent_until
    from device_hours
),

gaps as (
    select
        event_date,
        device_id,
        silent_from,
        silent_until
    from silences
    where silent_until >= silent_from + interval 2 hours
)

select
    touched_days.event_date,
    gaps.device_id,
    gaps.silent_from,
    gaps.silent_until,
    gaps.silent_from is null as _is_deleted
from touched_days
left join gaps
    on touched_days.event_date = gaps.event_date
