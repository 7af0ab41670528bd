{{ config(unique_key=['_batch_id', '_row_number']) }}

with touched as (
    select * from {{ touched_keys(source('bronze', 'customers'), 'customer_id') }}
),

versions as (
    {{ staged_customers(pinned(source('bronze', 'customers'), touched='customer_id')) }}
),

-- a new version ends the previous one, so all versions of a customer are read together
touched_versions as (
    select
        versions.customer_id,
        versions.name,
        versions.email,
        versions._is_deleted,
        versions._source_modified_at,
        versions._batch_id,
        versions._row_number
    from versions
    left semi join touched
        on versions.customer_id = touched.customer_id
    where versions.rejection_reason is null
),

history as (
    select
        customer_id,
        name,
        email,
        _is_deleted as is_deleted,
        {{ validity('customer_id', ['_batch_id', '_row_number'], '_source_modified_at') }},
        _batch_id,
        _row_number
    from touched_versions
)

select * from history
