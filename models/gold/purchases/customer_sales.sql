{{ config(unique_key='customer_id') }}

-- a customer's purchases can be on any day, so the changes are folded into the totals
with customers as (
    {{ folded(ref('transactions'), by='customer_id', measures={
        'transaction_count': 'count(*)',
        'quantity': 'sum(quantity)',
        'amount': 'sum(amount)',
        'first_purchase_date': 'min(transaction_date)',
        'last_purchase_date': 'max(transaction_date)',
    }) }}
)

select * from customers
