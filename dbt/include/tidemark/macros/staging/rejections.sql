{# The query of a rejected_* model: the staged rows that break a rule, of a CTE or of a query. A row that `tidemark erase` has emptied
   keeps its place, with that reason: `erased: ` and the id of the erasure are all that is left of its record. #}
{% macro rejections(staged) %}
    {% set is_query = staged.split() | length > 1 %}
    {% if is_query %}
    with staged as (
        {{ staged }}
    )
    {% endif %}

    select
        if(_corrupt_record rlike '^erased: [0-9a-f]{16}$', 'erased', rejection_reason) as rejection_reason,
        raw_record,
        _corrupt_record,
        _source_file,
        _batch_id,
        _row_number,
        _ingested_at
    from {{ 'staged' if is_query else staged }}
    where rejection_reason is not null
{% endmacro %}
