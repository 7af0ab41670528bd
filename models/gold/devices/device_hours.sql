{{ config(
    incremental_strategy='insert_overwrite',
    partition_by='event_date',
    unique_key=['event_date', 'device_id', 'hour_of_day']
) }}

with device_events as (
    select * from {{ ref('device_events') }}
),

hourly as (
    select
        event_date,
        device_id,
        hour(event_ts) as hour_of_day,
        count(*) as reading_count,
        count(temperature) as temperature_count,
        sum(temperature) as temperature_sum,
        min(temperature) as lowest_temperature,
        max(temperature) as highest_temperature,
        min(battery) as lowest_battery,
        min(event_ts) as first_event_ts,
        max(event_ts) as last_event_ts
    from device_events
    group by event_date, device_id, hour(event_ts)
)

select * from hourly
