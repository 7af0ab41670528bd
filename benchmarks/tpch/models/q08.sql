{{ config(unique_key='o_year') }}

with all_nations as (
    select
        extract(year from o.o_orderdate) as o_year,
        l.l_extendedprice * (1 - l.l_discount) as volume,
        n2.n_name as nation
    from {{ source('tpch', 'part') }} as p
    inner join {{ source('tpch', 'lineitem') }} as l on p.p_partkey = l.l_partkey
    inner join {{ source('tpch', 'supplier') }} as s on l.l_suppkey = s.s_suppkey
    inner join {{ source('tpch', 'orders') }} as o on l.l_orderkey = o.o_orderkey
    inner join {{ source('tpch', 'customer') }} as c on o.o_custkey = c.c_custkey
    inner join {{ source('tpch', 'nation') }} as n1 on c.c_nationkey = n1.n_nationkey
    inner join {{ source('tpch', 'region') }} as r on n1.n_regionkey = r.r_regionkey
    inner join {{ source('tpch', 'nation') }} as n2 on s.s_nationkey = n2.n_nationkey
    where
        r.r_name = 'AMERICA'
        and o.o_orderdate between date '1995-01-01' and date '1996-12-31'
        and p.p_type = 'ECONOMY ANODIZED STEEL'
)

select
    o_year,
    sum(case when nation = 'BRAZIL' then volume else 0 end) / sum(volume) as mkt_share
from all_nations
group by o_year
