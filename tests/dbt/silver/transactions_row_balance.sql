{{ row_balance(accepted=ref('transactions'), rejected=ref('rejected_transactions')) }}
