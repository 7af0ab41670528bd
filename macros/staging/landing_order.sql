{# What decides between two landed rows of one key, after the business time: later landed wins; no ties. #}
{% macro landing_order() -%}
    _batch_id desc, _source_modified_at desc, _source_file desc, _row_number desc
{%- endmacro %}
