{{ config(unique_key=['event_date', 'user_id']) }}

with user_events as (
    select * from {{ ref('user_events') }}
),

ranked as (
    select
        *,
        row_number() over (partition by event_date, user_id order by event_at desc, event_id desc) as latest_rank
    from user_events
)

select
    event_date,
    user_id,
    event_id,
    event_type,
    event_at
from ranked
where latest_rank = 1
