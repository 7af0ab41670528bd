{% macro envelope(landed, columns) %}
    (
        select
            {% for column in columns -%}
            {% set name = dbt.tidemark__quoted(column) -%}
            if({{ dbt.change_type('op') }} = 'delete', `before`.{{ name }}, `after`.{{ name }}) as {{ name }},
            {% endfor -%}
            op, ts_ms, `source`,
            _corrupt_record, _source_file, _source_modified_at, _row_number, _batch_id, _ingested_at
        from {{ landed }}
        {# a tombstone, which follows a delete in a compacted topic; with other fields it is a record to be rejected #}
        where not (op is null and `before` is null and `after` is null and _rescued_data is null and _corrupt_record is null)
    )
{% endmacro %}
