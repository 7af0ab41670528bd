{# The same for a repeated record, another for any other: NULL and times to the microsecond count too. #}
{% macro change_id(columns) -%}
    md5(to_json(
        struct({{ tidemark.quoted(columns) }}),
        map(
            'timeZone', 'UTC', 'timestampFormat', 'yyyy-MM-dd\'T\'HH:mm:ss.SSSSSSXXX',
            'timestampNTZFormat', 'yyyy-MM-dd\'T\'HH:mm:ss.SSSSSS', 'ignoreNullFields', 'true'
        )
    ))
{%- endmacro %}
