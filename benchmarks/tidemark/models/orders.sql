{{ config(
    unique_key=['order_date', 'order_id'],
    partition_by='order_date',
    meta={'newest_by': 'updated_at', 'prune_by': 'order_date'},
    schema='silver'
) }}

with landed as (
    select * from {{ changes(source('bronze', 'orders_in')) }}
),

ranked as (
    select
        *,
        row_number() over (
            partition by order_date, order_id
            order by updated_at desc, _batch_id desc, _row_number desc
        ) as newest_rank
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
