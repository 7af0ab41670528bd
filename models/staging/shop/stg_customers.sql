with source as (
    select * from {{ source('bronze', 'customers') }}
),

copied as (
    select
        customer_id,
        name,
        email,
        created_at,
        updated_at,
        _is_deleted,
        to_json(struct(customer_id, name, email, created_at, updated_at)) as raw_record,
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
            ("not _is_deleted and coalesce(trim(name), '') = ''", 'name is missing'),
            ('not _is_deleted and created_at is null', 'created_at is not a time'),
        ]) }} as rejection_reason
    from copied
)

select * from checked
