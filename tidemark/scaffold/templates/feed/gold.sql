{{ config(unique_key='<< gold.by >>') }}

with << gold.source >> as (
    select * from {{ ref('<< gold.source >>') }}
),

<% set step = "per_day" if gold.name.endswith("_per_day") else "counted" %>
<< step >> as (
    select
        << gold.by_sql ~ " as " ~ gold.by if gold.by_sql != gold.by else gold.by >>,
        count(*) as << gold.columns[1][0] >><< "," if gold.sums >>
        <% for name in gold.sums %>
        sum(<< name >>) as << name >><< "," if not loop.last >>
        <% endfor %>
    from << gold.source >>
    <% if gold.has_nulls %>
    where << gold.by_sql >> is not null
    <% endif %>
    group by << gold.by_sql >>
)

select * from << step >>
