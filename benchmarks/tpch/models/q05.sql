{{ config(unique_key='n_name') }}

select
    n.n_name,
    sum(l.l_extendedprice * (1 - l.l_discount)) as revenue
from {{ source('tpch', 'customer') }} as c
inner join {{ source('tpch', 'orders') }} as o on c.c_custkey = o.o_custkey
inner join {{ source('tpch', 'lineitem') }} as l on o.o_orderkey = l.l_orderkey
inner join {{ source('tpch', 'supplier') }} as s on l.l_suppkey = s.s_suppkey and c.c_nationkey = s.s_nationkey
inner join {{ source('tpch', 'nation') }} as n on s.s_nationkey = n.n_nationkey
inner join {{ source('tpch', 'region') }} as r on n.n_regionkey = r.r_regionkey
where
    r.r_name = 'ASIA'
    and o.o_orderdate >= date '1994-01-01'
    and o.o_orderdate < date '1994-01-01' + interval '1' year
group by n.n_name
