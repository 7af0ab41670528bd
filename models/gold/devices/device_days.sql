{{ config(unique_key=['event_date', 'device_id']) }}

with touched_days as (
    select * from {{ touched_keys(ref('device_hours'), ['event_date', 'device_id']) }}
),

device_hours as (
    select * from {{ pinned(ref('device_hours'), touched='event_date') }}
),

daily as (
    select
        touched_days.event_date,
        touched_days.device_id,
        sum(device_hours.reading_count) as reading_count,
        count(device_hours.hour_of_day) as hours_reported,
        min(device_hours.lowest_temperature) as lowest_temperature,
        max(device_hours.highest_temperature) as highest_temperature,
        cast(
            sum(device_hours.temperature_sum) / sum(device_hours.temperature_count) as decimal(7, 3)
        ) as mean_temperature,
        min(device_hours.lowest_battery) as lowest_battery,
        count(device_hours.hour_of_day) = 0 as _is_deleted
    from touched_days
    left join device_hours
        on
            touched_days.event_date = device_hours.event_date
            and touched_days.device_id = device_hours.device_id
    group by touched_days.event_date, touched_days.device_id
)

select * from daily
