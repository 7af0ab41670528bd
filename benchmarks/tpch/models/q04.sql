{{ config(unique_key='o_orderpriority') }}

select
    o.o_orderpriority,
    count(*) as order_count
from {{ source('tpch', 'orders') }} as o
where
    o.o_orderdate >= date '1993-07-01'
    and o.o_orderdate < date '1993-07-01' + interval '3' month
    and exists (
        select 1
        from {{ source('tpch', 'lineitem') }} as l
        where l.l_orderkey = o.o_orderkey and l.l_commitdate < l.l_receiptdate
    )
group by o.o_orderpriority
