{{ config(unique_key=<< feed.unique_key >><< ", meta={'newest_by': '" ~ feed.newest_by.name ~ "'}" if feed.newest_by else "" >>) }}

with staged as (
    select * from {{ changes(ref('stg_<< feed.name >>')) }}
),

<% if feed.key %>
newest as (
    {{ newest_of('staged') }}
),

<% endif %>
final as (
    select
        <% for column in feed.columns %>
        << column.name >>,
        <% endfor %>
        <% if feed.key %>
        _versions
    from newest
        <% else %>
        _batch_id,
        _row_number
    from staged
    where rejection_reason is null
        <% endif %>
)

select * from final
