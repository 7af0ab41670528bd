{{ config(unique_key=['p_brand', 'p_type', 'p_size']) }}

select
    p.p_brand,
    p.p_type,
    p.p_size,
    count(distinct ps.ps_suppkey) as supplier_cnt
from {{ source('tpch', 'partsupp') }} as ps
inner join {{ source('tpch', 'part') }} as p on ps.ps_partkey = p.p_partkey
where
    p.p_brand <> 'Brand#45'
    and p.p_type not like 'MEDIUM POLISHED%'
    and p.p_size in (49, 14, 23, 45, 19, 3, 36, 9)
    and ps.ps_suppkey not in (
        select s_suppkey
        from {{ source('tpch', 'supplier') }}
        where s_comment like '%Customer%Complaints%'
    )
group by p.p_brand, p.p_type, p.p_size
