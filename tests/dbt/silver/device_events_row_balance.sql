{{ row_balance(accepted=ref('device_events'), rejected=ref('rejected_device_events')) }}
