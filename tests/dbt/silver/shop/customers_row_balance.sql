{{ row_balance(accepted=ref('customers'), rejected=ref('rejected_customers')) }}
