{{ config(unique_key='scope') }}
-- scope is added as the key.

select
    'all' as scope,
    sum(l.l_extendedprice) / 7.0 as avg_yearly
from {{ source('tpch', 'lineitem') }} as l
inner join {{ source('tpch', 'part') }} as p on l.l_partkey = p.p_partkey
where
    p.p_brand = 'Brand#23'
    and p.p_container = 'MED BOX'
    and l.l_quantity < (
        select 0.2 * avg(l2.l_quantity)
        from {{ source('tpch', 'lineitem') }} as l2
        where l2.l_partkey = p.p_partkey
    )
