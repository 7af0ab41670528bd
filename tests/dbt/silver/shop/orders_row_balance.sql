{{ row_balance(accepted=ref('orders'), rejected=ref('rejected_orders')) }}
