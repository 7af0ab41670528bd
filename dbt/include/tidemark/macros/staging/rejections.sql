{# The query of a rejected_* model: the rows of a staging macro that break a rule. A row that `tidemark erase` has emptied keeps its
   place, with that reason: `erased: ` and the id of the erasure are all that is left of its record. #}
{% macro rejections(staged) %}
    with staged as (
        {{ staged }}
    )

    select
        if(_corrupt_record rlike '^erased: [0-9a-f]{16}$', 'erased', rejection_reason) as rejection_reason,
        raw_record,
        _corrupt_record,
        _source_file,
        _batch_id,
        _row_number,
        _ingested_at
    from staged
    where rejection_reason is not null
{% endmacro %}
