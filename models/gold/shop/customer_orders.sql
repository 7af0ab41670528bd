{{ config(unique_key='customer_id') }}

-- a customer's orders can be on any day, so the changes are folded into the totals
with customers as (
    {{ folded(ref('orders'), by='customer_id', where='not _is_deleted', measures={
        'order_count': 'count(*)',
        'quantity': 'sum(quantity)',
        'amount': 'sum(quantity * price)',
        'first_order_date': 'min(order_date)',
        'last_order_date': 'max(order_date)',
    }) }}
)

select * from customers
