{# A number with an exponent has at most 15 digits: then it equals its decimal if both are the same double. #}
{% macro as_decimal(column, precision=28, scale=9, decimal_mark='.', grouping=none, strip=none) -%}
    {%- set text = dbt.trimmed(column) -%}
    {%- set number = dbt.tidemark__bare_number(text, decimal_mark, grouping, strip) -%}
    {%- set decimal = 'try_cast(' ~ number ~ ' as decimal(' ~ precision ~ ', ' ~ scale ~ '))' -%}
    {%- set whole = '0|[1-9][0-9]*' ~ ('|[1-9][0-9]{0,2}([' ~ grouping ~ '][0-9]{3})+' if grouping else '') -%}
    {%- set mark = '[' ~ decimal_mark ~ ']' -%}
    {%- set digits = '((' ~ whole ~ ')(' ~ mark ~ '[0-9]{0,' ~ scale ~ '}0*)?|' ~ mark ~ '(?=[0-9])[0-9]{0,' ~ scale ~ '}0*)' -%}
    {%- set before, after = '[+-]?', '' -%}
    {%- if strip == '%' -%}
        {%- set after = ' ?%' -%}
    {%- elif strip -%}
        {%- set sign = '[' ~ strip ~ ']' -%}
        {%- set before, after = '([+-]? ?' ~ sign ~ ' ?|' ~ sign ~ ' ?[+-]|[+-])?', '( ?' ~ sign ~ ')?' -%}
    {%- endif -%}
    case
        when {{ text }} rlike '{{ dbt.tidemark__escaped('^' ~ before ~ digits ~ after ~ '$') }}' then {{ decimal }}
        {%- if not strip and not grouping %}
        when
            {{ text }} rlike '^[+-]?(?=[0-9{{ decimal_mark }}]{1,16}[eE])((0|[1-9][0-9]*){{ mark }}?[0-9]*|{{ mark }}[0-9]+)[eE][+-]?[0-9]{1,2}$'
            and try_cast({{ number }} as double) = cast({{ decimal }} as double)
            then {{ decimal }}
        {%- endif %}
    end
{%- endmacro %}

{# The number as Spark reads it: with a point, without the other signs. #}
{% macro tidemark__bare_number(text, decimal_mark, grouping, strip) %}
    {% if decimal_mark == '.' and not grouping and not strip %}
        {{ return(text) }}
    {% endif %}
    {% set signs = decimal_mark ~ (grouping or '') ~ (strip or '') ~ (' ' if strip else '') %}
    {{ return('translate(' ~ text ~ ", '" ~ dbt.tidemark__escaped(signs) ~ "', '.')") }}
{% endmacro %}
