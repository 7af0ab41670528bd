{{ config(unique_key=['p_partkey', 's_name']) }}

select
    s.s_acctbal,
    s.s_name,
    n.n_name,
    p.p_partkey,
    p.p_mfgr,
    s.s_address,
    s.s_phone,
    s.s_comment
from {{ source('tpch', 'part') }} as p
inner join {{ source('tpch', 'partsupp') }} as ps on p.p_partkey = ps.ps_partkey
inner join {{ source('tpch', 'supplier') }} as s on ps.ps_suppkey = s.s_suppkey
inner join {{ source('tpch', 'nation') }} as n on s.s_nationkey = n.n_nationkey
inner join {{ source('tpch', 'region') }} as r on n.n_regionkey = r.r_regionkey
where
    p.p_size = 15
    and p.p_type like '%BRASS'
    and r.r_name = 'EUROPE'
    and ps.ps_supplycost = (
        select min(ps2.ps_supplycost)
        from {{ source('tpch', 'partsupp') }} as ps2
        inner join {{ source('tpch', 'supplier') }} as s2 on ps2.ps_suppkey = s2.s_suppkey
        inner join {{ source('tpch', 'nation') }} as n2 on s2.s_nationkey = n2.n_nationkey
        inner join {{ source('tpch', 'region') }} as r2 on n2.n_regionkey = r2.r_regionkey
        where ps2.ps_partkey = p.p_partkey and r2.r_name = 'EUROPE'
    )
order by s.s_acctbal desc, n.n_name, s.s_name, p.p_partkey
limit 100 -- tidemark: allow limit: the order is total
