{{ row_balance(
    staged=staged_user_events(consumed(source('bronze', 'user_events'), by=ref('user_events'))),
    accepted=ref('user_events'),
    key='event_id',
    rejected=ref('rejected_user_events')
) }}
