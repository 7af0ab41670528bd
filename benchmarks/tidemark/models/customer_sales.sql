{{ config(unique_key='customer_id', schema='gold') }}

with customers as (
    {{ folded(ref('orders'), by='customer_id', measures={
        'orders': 'count(*)',
        'quantity': 'sum(quantity)',
        'amount': 'sum(amount)',
        'first_order_date': 'min(order_date)',
        'last_order_date': 'max(order_date)',
    }) }}
)

select * from customers
