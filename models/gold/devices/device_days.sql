{{ config(unique_key=['event_date', 'device_id']) }}

with device_hours as (
    select * from {{ ref('device_hours') }}
),

daily as (
    select
        event_date,
        device_id,
        sum(reading_count) as reading_count,
        count(*) as hours_reported,
        min(lowest_temperature) as lowest_temperature,
        max(highest_temperature) as highest_temperature,
        cast(sum(temperature_sum) / sum(temperature_count) as decimal(7, 3)) as mean_temperature,
        min(lowest_battery) as lowest_battery
    from device_hours
    group by event_date, device_id
)

select * from daily
