with source as (
    select * from {{ source('bronze', 'orders') }}
),

copied as (
    select
        order_id,
        customer_id,
        product_name,
        quantity,
        price,
        order_date,
        coalesce(nullif(trim(channel), ''), 'unknown') as channel,
        updated_at,
        _is_deleted,
        to_json(struct(
            order_id, customer_id, product_name, quantity, price, order_date, channel, updated_at
        )) as raw_record,
        _source_modified_at as read_at,
        _corrupt_record,
        _source_file,
        _source_modified_at,
        _row_number,
        _batch_id,
        _ingested_at
    from source
),

-- a deletion carries the values of the last row, whatever they are, and must not be lost: no rule applies to it
checked as (
    select
        *,
        {{ rejection_reason([
            ('_corrupt_record is not null', 'erased'),
            ('not _is_deleted and customer_id is null', 'customer_id is missing'),
            ("not _is_deleted and coalesce(trim(product_name), '') = ''", 'product_name is missing'),
            ('not _is_deleted and coalesce(quantity, 0) <= 0', 'quantity is not positive'),
            ('not _is_deleted and price is null', 'price is not a number'),
            ('not _is_deleted and price < 0', 'price is negative'),
            ('not _is_deleted and order_date is null', 'order_date is not a date'),
        ]) }} as rejection_reason
    from copied
)

select * from checked
