{{ config(
    incremental_strategy='insert_overwrite',
    partition_by='event_date',
    unique_key=['event_date', 'device_id', 'hour_of_day']
) }}

with touched_days as (
    select * from {{ touched_keys(ref('device_events'), 'event_date') }}
),

device_events as (
    select * from {{ pinned(ref('device_events'), touched='event_date') }}
),

hourly as (
    select
        touched_days.event_date,
        device_events.device_id,
        hour(device_events.event_ts) as hour_of_day,
        count(device_events.event_ts) as reading_count,
        count(device_events.temperature) as temperature_count,
        sum(device_events.temperature) as temperature_sum,
        min(device_events.temperature) as lowest_temperature,
        max(device_events.temperature) as highest_temperature,
        min(device_events.battery) as lowest_battery,
        min(device_events.event_ts) as first_event_ts,
        max(device_events.event_ts) as last_event_ts,
        count(device_events.event_ts) = 0 as _is_deleted
    from touched_days
    left join device_events
        on touched_days.event_date = device_events.event_date
    group by touched_days.event_date, device_events.device_id, hour(device_events.event_ts)
)

select * from hourly
