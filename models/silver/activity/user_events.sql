{{ config(unique_key='event_id', meta={'newest_by': 'updated_at'}) }}

with staged as (
    select * from {{ changes(ref('stg_user_events')) }}
),

newest as (
    {{ newest_of('staged') }}
),

final as (
    select
        event_id,
        user_id,
        event_type,
        device,
        event_at,
        cast(event_at as date) as event_date,
        updated_at,
        _versions
    from newest
)

select * from final
