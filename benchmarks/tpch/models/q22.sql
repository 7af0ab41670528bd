{{ config(unique_key='cntrycode') }}

with custsale as (
    select
        substring(c.c_phone, 1, 2) as cntrycode,
        c.c_acctbal
    from {{ source('tpch', 'customer') }} as c
    where
        substring(c.c_phone, 1, 2) in ('13', '31', '23', '29', '30', '18', '17')
        and c.c_acctbal > (
            select avg(c2.c_acctbal)
            from {{ source('tpch', 'customer') }} as c2
            where
                c2.c_acctbal > 0.00
                and substring(c2.c_phone, 1, 2) in ('13', '31', '23', '29', '30', '18', '17')
        )
        and not exists (select 1 from {{ source('tpch', 'orders') }} as o where o.o_custkey = c.c_custkey)
)

select
    cntrycode,
    count(*) as numcust,
    sum(c_acctbal) as totacctbal
from custsale
group by cntrycode
