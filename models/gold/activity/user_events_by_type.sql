{{ config(unique_key='event_type') }}

with touched_types as (
    select * from {{ touched_keys(ref('daily_user_events'), 'event_type') }}
    union
    select * from {{ touched_keys(ref('event_types'), 'event_type') }}
),

-- totals come from daily rows, so a type's events are not read again
daily_user_events as (
    select * from {{ pinned(ref('daily_user_events')) }}
),

event_types as (
    select * from {{ pinned(ref('event_types')) }}
),

by_type as (
    select
        touched_types.event_type,
        event_types.event_type_name,
        event_types.event_group,
        sum(daily_user_events.event_count) as event_count,
        min(daily_user_events.event_date) as first_event_date,
        max(daily_user_events.event_date) as last_event_date,
        count(daily_user_events.event_date) = 0 as _is_deleted
    from touched_types
    left join daily_user_events
        on touched_types.event_type = daily_user_events.event_type
    left join event_types
        on touched_types.event_type = event_types.event_type
    group by
        touched_types.event_type,
        event_types.event_type_name,
        event_types.event_group
)

select * from by_type
