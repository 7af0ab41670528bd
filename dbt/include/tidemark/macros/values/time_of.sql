{# SQL of a time, from its pieces in the order of ISO 8601; NULL if they are not a time. #}
{% macro tidemark__time_of(text, time, local) %}
    {% set hour = dbt.tidemark__time_piece(text, time, 'H') %}
    {% if 'h' in time.groups %}
        {% set hour = 'cast(try_cast(' ~ dbt.tidemark__time_piece(text, time, 'h') ~ ' as int) % 12 + if(lower('
            ~ dbt.tidemark__time_piece(text, time, 'a') ~ ") = 'p', 12, 0) as string)" %}
    {% endif %}
    {% set pieces = [dbt.tidemark__day_of(text, time), "'T'", hour] %}
    {% for letter, sign in (('m', ':'), ('s', ':')) %}
        {% do pieces.append("'" ~ sign ~ "', lpad(" ~ dbt.tidemark__time_piece(text, time, letter) ~ ", 2, '0')") %}
    {% endfor %}
    {% do pieces.append("'.', rpad(" ~ dbt.tidemark__time_piece(text, time, 'S') ~ ", 6, '0')") %}
    {% do pieces.append('coalesce(nullif(' ~ dbt.tidemark__time_piece(text, time, 'X') ~ ", ''), " ~ local ~ ')' if 'X' in time.groups else local) %}
    {% set whole = 'concat(' ~ pieces | join(', ') ~ ')' %}
    {{ return('try_cast(' ~ (dbt.tidemark__with_whole_offset(whole) if 'X' in time.groups else whole) ~ ' as timestamp)') }}
{% endmacro %}

{# SQL of the day as text in ISO 8601. #}
{% macro tidemark__day_of(text, time) %}
    {% set year = dbt.tidemark__time_piece(text, time, 'y') %}
    {% if 'yy' in time.groups %}
        {% set year = "concat('20', " ~ dbt.tidemark__time_piece(text, time, 'yy') ~ ')' %}
    {% endif %}
    {% set month = dbt.tidemark__time_piece(text, time, 'M') %}
    {% if 'january' in time.pattern %}
        {% set month = "cast((instr('janfebmaraprmayjunjulaugsepoctnovdec', lower(left(" ~ month ~ ', 3))) + 2) div 3 as string)' %}
    {% endif %}
    {{ return('concat(' ~ [year, "'-'", month, "'-'", dbt.tidemark__time_piece(text, time, 'd')] | join(', ') ~ ')') }}
{% endmacro %}
