{{ config(unique_key='l_orderkey') }}
-- l_orderkey is added to the order.

select
    l.l_orderkey,
    sum(l.l_extendedprice * (1 - l.l_discount)) as revenue,
    o.o_orderdate,
    o.o_shippriority
from {{ source('tpch', 'customer') }} as c
inner join {{ source('tpch', 'orders') }} as o on c.c_custkey = o.o_custkey
inner join {{ source('tpch', 'lineitem') }} as l on o.o_orderkey = l.l_orderkey
where
    c.c_mktsegment = 'BUILDING'
    and o.o_orderdate < date '1995-03-15'
    and l.l_shipdate > date '1995-03-15'
group by l.l_orderkey, o.o_orderdate, o.o_shippriority
order by revenue desc, o.o_orderdate, l.l_orderkey
limit 10 -- tidemark: allow limit: the order is total
