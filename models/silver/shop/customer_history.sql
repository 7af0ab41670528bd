{{ config(unique_key=['_batch_id', '_row_number']) }}

with versions as (
    select * from {{ ref('stg_customers') }}
),

-- a new version ends the previous one: a run computes all versions of the customers that changed
history as (
    select
        customer_id,
        name,
        email,
        _is_deleted as is_deleted,
        {{ validity('customer_id', ['_batch_id', '_row_number'], '_source_modified_at') }},
        _batch_id,
        _row_number
    from versions
    where rejection_reason is null
)

select * from history
