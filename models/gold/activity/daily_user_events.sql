{{ config(unique_key=['event_date', 'event_type']) }}

with user_events as (
    select * from {{ ref('user_events') }}
),

daily as (
    select
        event_date,
        event_type,
        count(*) as event_count,
        count(distinct user_id) as user_count
    from user_events
    group by event_date, event_type
)

select * from daily
