{{ config(unique_key='ps_partkey') }}

{% set fraction = '%.10f' % (0.0001 / (env_var('TPCH_SCALE', '1') | float)) %}
with germany as (
    select
        ps.ps_partkey,
        ps.ps_supplycost * ps.ps_availqty as value
    from {{ source('tpch', 'partsupp') }} as ps
    inner join {{ source('tpch', 'supplier') }} as s on ps.ps_suppkey = s.s_suppkey
    inner join {{ source('tpch', 'nation') }} as n on s.s_nationkey = n.n_nationkey
    where n.n_name = 'GERMANY'
)

select
    ps_partkey,
    sum(value) as value
from germany
group by ps_partkey
having sum(value) > (select sum(value) * {{ fraction }} from germany)
