{{ config(unique_key='scope') }}
-- scope is added as the key, and the sum of no rows is 0.

select
    'all' as scope,
    coalesce(sum(l_extendedprice * l_discount), 0) as revenue
from {{ source('tpch', 'lineitem') }}
where
    l_shipdate >= date '1994-01-01'
    and l_shipdate < date '1994-01-01' + interval '1' year
    and l_discount between 0.06 - 0.01 and 0.06 + 0.01
    and l_quantity < 24
