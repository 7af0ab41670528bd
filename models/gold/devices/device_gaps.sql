{{ config(
    incremental_strategy='insert_overwrite',
    partition_by='event_date',
    unique_key=['event_date', 'device_id', 'silent_from']
) }}

with device_hours as (
    select * from {{ ref('device_hours') }}
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

select * from gaps
