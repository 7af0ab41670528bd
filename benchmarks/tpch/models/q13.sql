{{ config(unique_key='c_count') }}

with c_orders as (
    select
        c.c_custkey,
        count(o.o_orderkey) as c_count
    from {{ source('tpch', 'customer') }} as c
    left join {{ source('tpch', 'orders') }} as o on c.c_custkey = o.o_custkey and o.o_comment not like '%special%requests%'
    group by c.c_custkey
)

select
    c_count,
    count(*) as custdist
from c_orders
group by c_count
