{# A test's query: what the model has read = its keys + repeated or older versions + rejected rows. #}
{% macro row_balance(staged, accepted, key, rejected) %}
with staged as (
    {{ staged }}
),

expected as (
    select
        count(distinct if(rejection_reason is null, {{ key }}, null)) as expected_keys,
        count_if(rejection_reason is not null) as expected_rejected
    from staged
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
