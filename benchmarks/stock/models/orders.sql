{#- Rows updated after the newest one known. The merge looks for them in all partitions: to name some by
    `incremental_predicates` would be faster, and would write a later row's order a second time. -#}
{{ config(
    unique_key=['order_date', 'order_id'],
    partition_by='order_date',
    tblproperties={'delta.autoOptimize.optimizeWrite': 'true'},
    schema='silver'
) }}

with landed as (
    select *
    from {{ source('bronze', 'orders_in') }}
    {% if is_incremental() %}
        where updated_at > (select max(updated_at) from {{ this }})
    {% endif %}
),

ranked as (
    select
        *,
        row_number() over (partition by order_id order by updated_at desc, _batch_id desc, _row_number desc) as newest_rank
    from landed
)

select
    order_id,
    customer_id,
    order_date,
    quantity,
    amount,
    updated_at
from ranked
where newest_rank = 1
