{{ row_balance(accepted=ref('user_events'), rejected=ref('rejected_user_events')) }}
