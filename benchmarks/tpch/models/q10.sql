{{ config(unique_key='c_custkey') }}
-- c_custkey is added to the order.

select
    c.c_custkey,
    c.c_name,
    sum(l.l_extendedprice * (1 - l.l_discount)) as revenue,
    c.c_acctbal,
    n.n_name,
    c.c_address,
    c.c_phone,
    c.c_comment
from {{ source('tpch', 'customer') }} as c
inner join {{ source('tpch', 'orders') }} as o on c.c_custkey = o.o_custkey
inner join {{ source('tpch', 'lineitem') }} as l on o.o_orderkey = l.l_orderkey
inner join {{ source('tpch', 'nation') }} as n on c.c_nationkey = n.n_nationkey
where
    o.o_orderdate >= date '1993-10-01'
    and o.o_orderdate < date '1993-10-01' + interval '3' month
    and l.l_returnflag = 'R'
group by c.c_custkey, c.c_name, c.c_acctbal, c.c_phone, n.n_name, c.c_address, c.c_comment
order by revenue desc, c.c_custkey
limit 20 -- tidemark: allow limit: the order is total
