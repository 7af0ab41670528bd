{% snapshot products_snapshot %}
    {# the price of a day may change again, so the time of the run says when, not the day #}
    {{ config(unique_key='product_name', check_cols=['price']) }}

    select
        product_name,
        price,
        cast(last_order_date as timestamp) as priced_at
    from {{ ref('products') }}
{% endsnapshot %}
