{{ config(unique_key='event_type') }}

-- totals come from daily rows, so a type's events are not read again
with daily_user_events as (
    select * from {{ ref('daily_user_events') }}
),

event_types as (
    select * from {{ ref('event_types') }}
),

by_type as (
    select
        daily_user_events.event_type,
        event_types.event_type_name,
        event_types.event_group,
        sum(daily_user_events.event_count) as event_count,
        min(daily_user_events.event_date) as first_event_date,
        max(daily_user_events.event_date) as last_event_date
    from daily_user_events
    left join event_types
        on daily_user_events.event_type = event_types.event_type
    group by
        daily_user_events.event_type,
        event_types.event_type_name,
        event_types.event_group
)

select * from by_type
