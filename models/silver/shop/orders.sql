{{ config(unique_key='order_id', meta={'newest_by': 'read_at'}) }}

with staged as (
    {{ staged_orders(changes(source('bronze', 'orders'))) }}
),

accepted as (
    select
        *,
        row_number() over (partition by order_id order by {{ landing_order() }}) as newest_rank,
        count(*) over (partition by order_id) as _versions
    from staged
    where rejection_reason is null
),

newest as (
    select
        order_id,
        customer_id,
        product_name,
        channel,
        quantity,
        price,
        order_date,
        updated_at,
        _source_modified_at as read_at,
        _is_deleted,
        _versions
    from accepted
    where newest_rank = 1
)

select * from newest
