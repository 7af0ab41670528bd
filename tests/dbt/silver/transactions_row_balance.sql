{{ row_balance(
    staged=staged_transactions(consumed(source('bronze', 'transactions'), by=ref('transactions'))),
    accepted=ref('transactions'),
    key='transaction_id',
    rejected=ref('rejected_transactions')
) }}
