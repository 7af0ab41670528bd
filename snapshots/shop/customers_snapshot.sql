{% snapshot customers_snapshot %}
    {{ config(unique_key='customer_id', check_cols=['name', 'email'], updated_at='read_at') }}

    select
        customer_id,
        name,
        email,
        created_at,
        read_at
    from {{ ref('customers') }}
    where not _is_deleted
{% endsnapshot %}
