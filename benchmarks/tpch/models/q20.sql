{{ config(unique_key='s_name') }}

select
    s.s_name,
    s.s_address
from {{ source('tpch', 'supplier') }} as s
inner join {{ source('tpch', 'nation') }} as n on s.s_nationkey = n.n_nationkey
where
    n.n_name = 'CANADA'
    and s.s_suppkey in (
        select ps.ps_suppkey
        from {{ source('tpch', 'partsupp') }} as ps
        where
            ps.ps_partkey in (select p_partkey from {{ source('tpch', 'part') }} where p_name like 'forest%')
            and ps.ps_availqty > (
                select 0.5 * sum(l.l_quantity)
                from {{ source('tpch', 'lineitem') }} as l
                where
                    l.l_partkey = ps.ps_partkey
                    and l.l_suppkey = ps.ps_suppkey
                    and l.l_shipdate >= date '1994-01-01'
                    and l.l_shipdate < date '1994-01-01' + interval '1' year
            )
    )
