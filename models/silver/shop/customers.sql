{{ config(unique_key='customer_id', meta={'newest_by': 'read_at'}) }}

with staged as (
    {{ staged_customers(changes(source('bronze', 'customers'))) }}
),

accepted as (
    select
        *,
        row_number() over (partition by customer_id order by {{ landing_order() }}) as newest_rank,
        count(*) over (partition by customer_id) as _versions
    from staged
    where rejection_reason is null
),

newest as (
    select
        customer_id,
        name,
        email,
        created_at,
        updated_at,
        _source_modified_at as read_at,
        _is_deleted,
        _versions
    from accepted
    where newest_rank = 1
)

select * from newest
