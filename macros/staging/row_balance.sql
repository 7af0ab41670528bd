{# A test's query: what each model has read = its keys + repeated or older versions + rejected rows. #}
{% macro row_balance(accepted, accepted_staged, key, rejected, rejected_staged) %}
with accepted_rows as (
    {{ accepted_staged }}
),

rejected_rows as (
    {{ rejected_staged }}
),

expected as (
    select
        (select count(distinct {{ key }}) from accepted_rows where rejection_reason is null) as expected_keys,
        (select count(*) from rejected_rows where rejection_reason is not null) as expected_rejected
),

found as (
    select
        (select count(*) from {{ accepted }}) as found_keys,
        (select count(*) from {{ rejected }}) as found_rejected
)

select *
from expected
cross join found
where expected_keys != found_keys or expected_rejected != found_rejected
{% endmacro %}
