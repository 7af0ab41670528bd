{# The query's rows. Two rows with the same key stop the run, because either could win. #}
{% macro once_a_key(query, rows=none) %}
    select * except (__tidemark_copies)
    from (
        select *, count(*) over (partition by {{ dbt.quoted(query['keys']) }}) as __tidemark_copies
        from {{ rows or '(' ~ query.sql ~ ')' }}
    )
    where assert_true(
        __tidemark_copies = 1,
        concat(
            '{{ this.identifier }} has ', __tidemark_copies, ' rows of the key ',
            {{ dbt.shown_key(query['keys']) }},
            ' in one run. Keep one: row_number() … = 1. If rows may repeat, leave unique_key out.'
        )
    ) is null
{% endmacro %}

{# The values of a key as text, for a message: all columns, also those that are NULL. #}
{% macro shown_key(keys, prefix='') -%}
    to_json(struct({{ dbt.quoted(keys, prefix) }}), map('ignoreNullFields', 'false'))
{%- endmacro %}
