{{ row_balance(
    accepted=ref('transactions'),
    accepted_staged=staged_transactions(consumed(source('bronze', 'transactions'), by=ref('transactions'))),
    key='transaction_id',
    rejected=ref('rejected_transactions'),
    rejected_staged=staged_transactions(consumed(source('bronze', 'transactions'), by=ref('rejected_transactions')))
) }}
