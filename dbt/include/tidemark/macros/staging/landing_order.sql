{# The tie-breaker between landed rows of the same key, after the business time: the row that landed later wins. There are no ties. #}
{% macro landing_order() -%}
    _batch_id desc, _source_modified_at desc, _source_file desc, _row_number desc
{%- endmacro %}
