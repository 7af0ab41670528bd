{{ config(unique_key=['event_date', 'event_type']) }}

with touched_days as (
    select * from {{ touched_keys(ref('user_events'), ['event_date', 'event_type']) }}
),

user_events as (
    select * from {{ pinned(ref('user_events'), touched='event_date') }}
),

daily as (
    select
        touched_days.event_date,
        touched_days.event_type,
        count(user_events.event_id) as event_count,
        count(distinct user_events.user_id) as user_count,
        count(user_events.event_id) = 0 as _is_deleted
    from touched_days
    left join user_events
        on
            touched_days.event_date = user_events.event_date
            and touched_days.event_type = user_events.event_type
    group by touched_days.event_date, touched_days.event_type
)

select * from daily
