{{ config(unique_key='event_id', meta={'newest_by': 'updated_at'}) }}

with staged as (
    {{ staged_user_events(changes(source('bronze', 'user_events'))) }}
),

accepted as (
    select
        *,
        row_number() over (partition by event_id order by updated_at desc, {{ landing_order() }}) as newest_rank,
        count(*) over (partition by event_id) as _versions
    from staged
    where rejection_reason is null
),

newest as (
    select
        event_id,
        user_id,
        event_type,
        device,
        event_at,
        cast(event_at as date) as event_date,
        updated_at,
        _versions
    from accepted
    where newest_rank = 1
)

select * from newest
