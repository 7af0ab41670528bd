{# The versions of a key follow each other without gap or overlap, and the last one, and only it, is current. Half-open
   intervals; an empty one is allowed. #}
{% test contiguous_history(model, key, valid_from='valid_from', valid_to='valid_to', is_current='is_current') %}
    {% if execute %}
    with versions as (
        select
            {{ dbt.tidemark__quoted(key) }},
            {{ valid_from }} as valid_from,
            {{ valid_to }} as valid_to,
            {{ is_current }} as is_current
        from {{ dbt.touched_groups(model, key) }}
    ),

    followed as (
        select
            *,
            lead(valid_from) over (
                partition by {{ dbt.tidemark__quoted(key) }} order by valid_from, valid_to nulls last
            ) as next_from
        from versions
    )

    select *
    from followed
    where
        valid_from is null
        or valid_to < valid_from
        or not valid_to <=> next_from
        or not is_current <=> (next_from is null)
    {% endif %}
{% endtest %}
