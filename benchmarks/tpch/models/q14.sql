{{ config(unique_key='scope') }}
-- scope is added as the key.

select
    'all' as scope,
    100.00 * sum(case when p.p_type like 'PROMO%' then l.l_extendedprice * (1 - l.l_discount) else 0 end)
    / sum(l.l_extendedprice * (1 - l.l_discount)) as promo_revenue
from {{ source('tpch', 'lineitem') }} as l
inner join {{ source('tpch', 'part') }} as p on l.l_partkey = p.p_partkey
where
    l.l_shipdate >= date '1995-09-01'
    and l.l_shipdate < date '1995-09-01' + interval '1' month
