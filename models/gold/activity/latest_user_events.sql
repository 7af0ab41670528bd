{{ config(unique_key=['event_date', 'user_id']) }}

with touched as (
    select * from {{ touched_keys(ref('user_events'), ['event_date', 'user_id']) }}
),

user_events as (
    select * from {{ pinned(ref('user_events'), touched='event_date') }}
),

ranked as (
    select
        *,
        row_number() over (partition by event_date, user_id order by event_at desc, event_id desc) as latest_rank
    from user_events
)

select
    touched.event_date,
    touched.user_id,
    ranked.event_id,
    ranked.event_type,
    ranked.event_at,
    ranked.event_id is null as _is_deleted
from touched
left join ranked
    on
        touched.event_date = ranked.event_date
        and touched.user_id = ranked.user_id
        and ranked.latest_rank = 1
