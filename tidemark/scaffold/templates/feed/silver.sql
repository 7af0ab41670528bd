{{ config(unique_key=<< feed.unique_key >><< ", meta={'newest_by': '" ~ feed.newest_by.name ~ "'}" if feed.newest_by else "" >>) }}

with staged as (
    select * from {{ changes(ref('stg_<< feed.name >>')) }}
),

newest as (
    {{ newest_of('staged') }}
),

final as (
    select
        <% for column in feed.columns %>
        << column.name >>,
        <% endfor %>
        _versions
    from newest
)

select * from final
