{# A repeated record gets the same id, any other record another one. NULL and microseconds also count. #}
{% macro change_id(columns) -%}
    md5(to_json(
        struct({{ dbt.tidemark__quoted(columns) }}),
        map(
            'timeZone', 'UTC', 'timestampFormat', 'yyyy-MM-dd\'T\'HH:mm:ss.SSSSSSXXX',
            'timestampNTZFormat', 'yyyy-MM-dd\'T\'HH:mm:ss.SSSSSS', 'ignoreNullFields', 'true'
        )
    ))
{%- endmacro %}
