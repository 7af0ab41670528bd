{{ config(unique_key=<< feed.unique_key >><< ", meta={'newest_by': '" ~ feed.newest_by.name ~ "'}" if feed.newest_by else "" >>) }}

with staged as (
    {{ staged_<< feed.name >>(changes(source('bronze', '<< feed.name >>'))) }}
),

accepted as (
    select
        *,
        row_number() over (
            partition by << feed.key_names | join(', ') >> order by << feed.newest_by.name ~ " desc, " if feed.newest_by else "" >>{{ landing_order() }}
        ) as newest_rank,
        count(*) over (partition by << feed.key_names | join(', ') >>) as _versions
    from staged
    where rejection_reason is null
),

newest as (
    select
        <% for column in feed.columns %>
        << column.name >>,
        <% endfor %>
        _versions
    from accepted
    where newest_rank = 1
)

select * from newest
