{{ config(unique_key=['supp_nation', 'cust_nation', 'l_year']) }}

with shipping as (
    select
        n1.n_name as supp_nation,
        n2.n_name as cust_nation,
        extract(year from l.l_shipdate) as l_year,
        l.l_extendedprice * (1 - l.l_discount) as volume
    from {{ source('tpch', 'supplier') }} as s
    inner join {{ source('tpch', 'lineitem') }} as l on s.s_suppkey = l.l_suppkey
    inner join {{ source('tpch', 'orders') }} as o on l.l_orderkey = o.o_orderkey
    inner join {{ source('tpch', 'customer') }} as c on o.o_custkey = c.c_custkey
    inner join {{ source('tpch', 'nation') }} as n1 on s.s_nationkey = n1.n_nationkey
    inner join {{ source('tpch', 'nation') }} as n2 on c.c_nationkey = n2.n_nationkey
    where
        (
            n1.n_name = 'FRANCE' and n2.n_name = 'GERMANY'
            or n1.n_name = 'GERMANY' and n2.n_name = 'FRANCE'
        )
        and l.l_shipdate between date '1995-01-01' and date '1996-12-31'
)

select
    supp_nation,
    cust_nation,
    l_year,
    sum(volume) as revenue
from shipping
group by supp_nation, cust_nation, l_year
