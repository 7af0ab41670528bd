{{ config(unique_key='s_suppkey') }}

with revenue as (
    select
        l_suppkey as supplier_no,
        sum(l_extendedprice * (1 - l_discount)) as total_revenue
    from {{ source('tpch', 'lineitem') }}
    where
        l_shipdate >= date '1996-01-01'
        and l_shipdate < date '1996-01-01' + interval '3' month
    group by l_suppkey
)

select
    s.s_suppkey,
    s.s_name,
    s.s_address,
    s.s_phone,
    r.total_revenue
from {{ source('tpch', 'supplier') }} as s
inner join revenue as r on s.s_suppkey = r.supplier_no
where r.total_revenue = (select max(total_revenue) from revenue)
