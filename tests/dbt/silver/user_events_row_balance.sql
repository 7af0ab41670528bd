{{ row_balance(
    accepted=ref('user_events'),
    accepted_staged=staged_user_events(consumed(source('bronze', 'user_events'), by=ref('user_events'))),
    key='event_id',
    rejected=ref('rejected_user_events'),
    rejected_staged=staged_user_events(consumed(source('bronze', 'user_events'), by=ref('rejected_user_events')))
) }}
