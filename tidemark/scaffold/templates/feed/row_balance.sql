{{ row_balance(accepted=ref('<< feed.name >>'), rejected=ref('rejected_<< feed.name >>')) }}
