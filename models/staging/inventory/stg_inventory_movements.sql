with source as (
    select * from {{ source('bronze', 'inventory_movements') }}
),

typed as (
    select
        movement_id,
        sequence,
        {{ change_type('change_type') }} as change_type,
        nullif(trim(product_name), '') as product_name,
        nullif(trim(warehouse), '') as warehouse,
        quantity,
        moved_at,
        changed_at,
        to_json(struct(
            change_type, sequence, changed_at, movement_id, product_name, warehouse, quantity, moved_at
        )) as raw_record,
        _corrupt_record,
        _source_file,
        _source_modified_at,
        _row_number,
        _batch_id,
        _ingested_at
    from source
),

-- a cancellation needs to name its movement, no more
checked as (
    select
        *,
        {{ rejection_reason([
            ('_corrupt_record is not null', 'the line is not one sound JSON object'),
            ('movement_id is null', 'movement_id is not a whole number'),
            ('sequence is null', 'sequence is not a whole number'),
            ('change_type is null', 'change_type is not known'),
            ('changed_at is null', 'changed_at is not a time'),
            ("change_type != 'delete' and product_name is null", 'product_name is missing'),
            ("change_type != 'delete' and warehouse is null", 'warehouse is missing'),
            ("change_type != 'delete' and quantity is null", 'quantity is not a whole number'),
            ("change_type != 'delete' and moved_at is null", 'moved_at is not a time'),
        ]) }} as rejection_reason
    from typed
)

select * from checked
