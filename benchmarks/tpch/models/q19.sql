{{ config(unique_key='scope') }}
-- scope is added as the key, and the sum of no rows is 0.

select
    'all' as scope,
    coalesce(sum(l.l_extendedprice * (1 - l.l_discount)), 0) as revenue
from {{ source('tpch', 'lineitem') }} as l
inner join {{ source('tpch', 'part') }} as p on l.l_partkey = p.p_partkey
where
    l.l_shipmode in ('AIR', 'AIR REG')
    and l.l_shipinstruct = 'DELIVER IN PERSON'
    and (
        p.p_brand = 'Brand#12'
        and p.p_container in ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG')
        and l.l_quantity between 1 and 11
        and p.p_size between 1 and 5
        or p.p_brand = 'Brand#23'
        and p.p_container in ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK')
        and l.l_quantity between 10 and 20
        and p.p_size between 1 and 10
        or p.p_brand = 'Brand#34'
        and p.p_container in ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG')
        and l.l_quantity between 20 and 30
        and p.p_size between 1 and 15
    )
