{{ config(unique_key='l_shipmode') }}

select
    l.l_shipmode,
    sum(case when o.o_orderpriority in ('1-URGENT', '2-HIGH') then 1 else 0 end) as high_line_count,
    sum(case when o.o_orderpriority not in ('1-URGENT', '2-HIGH') then 1 else 0 end) as low_line_count
from {{ source('tpch', 'orders') }} as o
inner join {{ source('tpch', 'lineitem') }} as l on o.o_orderkey = l.l_orderkey
where
    l.l_shipmode in ('MAIL', 'SHIP')
    and l.l_commitdate < l.l_receiptdate
    and l.l_shipdate < l.l_commitdate
    and l.l_receiptdate >= date '1994-01-01'
    and l.l_receiptdate < date '1994-01-01' + interval '1' year
group by l.l_shipmode
