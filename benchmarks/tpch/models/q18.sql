{{ config(unique_key='o_orderkey') }}
-- o_orderkey is added to the order.

select
    c.c_name,
    c.c_custkey,
    o.o_orderkey,
    o.o_orderdate,
    o.o_totalprice,
    sum(l.l_quantity) as quantity
from {{ source('tpch', 'customer') }} as c
inner join {{ source('tpch', 'orders') }} as o on c.c_custkey = o.o_custkey
inner join {{ source('tpch', 'lineitem') }} as l on o.o_orderkey = l.l_orderkey
where o.o_orderkey in (
    select l_orderkey
    from {{ source('tpch', 'lineitem') }}
    group by l_orderkey
    having sum(l_quantity) > 300
)
group by c.c_name, c.c_custkey, o.o_orderkey, o.o_orderdate, o.o_totalprice
order by o.o_totalprice desc, o.o_orderdate, o.o_orderkey
limit 100 -- tidemark: allow limit: the order is total
