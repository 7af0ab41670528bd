{# `try_cast` alone reads 08:15:00 as a time of today, and 2024 as January 1st. #}
{% macro as_timestamp(column, format=none, zone=none) -%}
    {%- set text = dbt.trimmed(column) -%}
    {%- set local = "'" ~ (' ' ~ dbt.tidemark__escaped(zone) if zone else 'Z') ~ "'" -%}
    {%- if format in ('epoch_seconds', 'epoch_millis') -%}
    if({{ text }} rlike '^(0|-?[1-9][0-9]{0,13})$', timestamp_{{ format[6:] }}(try_cast({{ text }} as bigint)), null)
    {%- elif format -%}
    {{ dbt.tidemark__time_of(text, dbt.tidemark__time_pattern(format), local) }}
    {%- else -%}
    {%- set moment = '[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6}0*)?)?' -%}
    case
        when {{ text }} rlike '^{{ moment }} ?{{ dbt.tidemark__zone_pattern() }}$'
            then try_cast({{ dbt.tidemark__with_whole_offset(dbt.tidemark__with_seconds(text)) }} as timestamp)
        when {{ text }} rlike '^{{ moment }}$' then try_cast(concat({{ dbt.tidemark__with_seconds(text) }}, {{ local }}) as timestamp)
        when {{ text }} rlike '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' then try_cast(concat({{ text }}, 'T00:00:00', {{ local }}) as timestamp)
    end
    {%- endif -%}
{%- endmacro %}

{# An offset from UTC, or a zone of the time zone database. #}
{% macro tidemark__zone_pattern() -%}
    (Z|UTC|GMT|[+-][0-9]{2}(:?[0-9]{2})?|[A-Z][A-Za-z]+(/[A-Z][A-Za-z_-]+)+)
{%- endmacro %}

{# Spark knows no offset without minutes, and no blank before it. #}
{% macro tidemark__with_whole_offset(text) %}
    {{ return('regexp_replace(regexp_replace(' ~ text ~ ", ' ?([+-][0-9]{2})(:?([0-9]{2}))?$', '$1:$3'), ':$', ':00')") }}
{% endmacro %}

{# Spark knows no zone after a time without seconds. #}
{% macro tidemark__with_seconds(text) %}
    {{ return('regexp_replace(' ~ text ~ ", '^(.{10}[T ][0-9]{2}:[0-9]{2})(?![0-9:])', '$1:00')") }}
{% endmacro %}
