{% macro as_double(column) -%}
    {%- set text = dbt.trimmed(column) -%}
    if(
        {{ text }} rlike '^[+-]?((0|[1-9][0-9]*)([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]{1,3})?$'
        and abs(try_cast({{ text }} as double)) < double('Infinity'),
        try_cast({{ text }} as double),
        null
    )
{%- endmacro %}
