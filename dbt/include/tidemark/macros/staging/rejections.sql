{# The query of a rejected_* model: the rows of a staging macro that break a rule. #}
{% macro rejections(staged) %}
    with staged as (
        {{ staged }}
    )

    select
        rejection_reason,
        raw_record,
        _corrupt_record,
        _source_file,
        _batch_id,
        _row_number,
        _ingested_at
    from staged
    where rejection_reason is not null
{% endmacro %}
