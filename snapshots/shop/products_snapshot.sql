{% snapshot products_snapshot %}
    {{ config(unique_key='product_name', check_cols=['price'], updated_at='priced_at') }}

    select
        product_name,
        price,
        cast(last_order_date as timestamp) as priced_at
    from {{ ref('products') }}
{% endsnapshot %}
