{# A source's clock may go back: a version begins no earlier than the version before it in the sequence. #}
{% macro validity(key, sequence, changed_at) -%}
    {% set in_order = 'partition by ' ~ dbt.tidemark__quoted(key) ~ ' order by ' ~ dbt.tidemark__quoted(sequence) -%}
    {% set begins = 'max(' ~ dbt.tidemark__quoted(changed_at) ~ ') over (' ~ in_order ~ ' rows between unbounded preceding and ' -%}
    {{ begins }}current row) as valid_from,
    if(lead(true) over ({{ in_order }}), {{ begins }}1 following), null) as valid_to,
    lead(true) over ({{ in_order }}) is null as is_current
{%- endmacro %}
