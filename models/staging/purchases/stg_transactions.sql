with source as (
    select * from {{ source('bronze', 'transactions') }}
),

typed as (
    select
        {{ as_integer('transaction_id') }} as transaction_id,
        nullif(trim(customer_id), '') as customer_id,
        {{ as_date('transaction_date') }} as transaction_date,
        {{ as_integer('quantity', 'int') }} as quantity,
        {{ as_decimal('amount', 12, 2) }} as amount,
        to_json(struct(transaction_id, customer_id, transaction_date, quantity, amount)) as raw_record,
        _corrupt_record,
        _source_file,
        _source_modified_at,
        _row_number,
        _batch_id,
        _ingested_at
    from source
),

checked as (
    select
        *,
        {{ rejection_reason([
            ('_corrupt_record is not null', 'the line does not fit its header or is not UTF-8'),
            ('transaction_id is null', 'transaction_id is not a whole number'),
            ('customer_id is null', 'customer_id is missing'),
            ('transaction_date is null', 'transaction_date is not a date (yyyy-MM-dd)'),
            ('quantity is null', 'quantity is not a whole number'),
            ('quantity <= 0', 'quantity is not positive'),
            ('amount is null', 'amount is not a number with at most 2 decimals'),
            ('amount < 0', 'amount is negative'),
        ]) }} as rejection_reason
    from typed
)

select * from checked
