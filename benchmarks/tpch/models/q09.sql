{{ config(unique_key=['nation', 'o_year']) }}

with profit as (
    select
        n.n_name as nation,
        extract(year from o.o_orderdate) as o_year,
        l.l_extendedprice * (1 - l.l_discount) - ps.ps_supplycost * l.l_quantity as amount
    from {{ source('tpch', 'part') }} as p
    inner join {{ source('tpch', 'lineitem') }} as l on p.p_partkey = l.l_partkey
    inner join {{ source('tpch', 'supplier') }} as s on l.l_suppkey = s.s_suppkey
    inner join {{ source('tpch', 'partsupp') }} as ps on l.l_suppkey = ps.ps_suppkey and l.l_partkey = ps.ps_partkey
    inner join {{ source('tpch', 'orders') }} as o on l.l_orderkey = o.o_orderkey
    inner join {{ source('tpch', 'nation') }} as n on s.s_nationkey = n.n_nationkey
    where p.p_name like '%green%'
)

select
    nation,
    o_year,
    sum(amount) as sum_profit
from profit
group by nation, o_year
