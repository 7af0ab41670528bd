{# A regular expression for a format of Java's DateTimeFormatter, and the letters of its groups in their order. #}
{% macro tidemark__time_pattern(format) %}
    {% set months = 'january|february|march|april|may|june|july|august|september|october|november|december' %}
    {% set months = months ~ '|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec' %}
    {% set known = {
        'yyyy': '([0-9]{4})', 'yy': '([0-9]{2})', 'MMMM': '(' ~ months ~ ')', 'MMM': '(' ~ months ~ ')[.]?',
        'hh': '(0[1-9]|1[0-2])', 'h': '(0?[1-9]|1[0-2])', 'a': '([ap])[.]?m[.]?', ' ': '[ ' ~ '\u00a0\u202f' ~ ']+',
        'EEEE': '(?:mon|tues|wednes|thurs|fri|satur|sun)day', 'EEE': '(?:mon|tue|wed|thu|fri|sat|sun)[.]?', '[': '(?:', ']': ')?'
    } %}
    {% set found = {'pattern': '', 'groups': []} %}
    {% for token in modules.re.findall("'[^']*'|y+|M+|d+|E+|H+|h+|m+|s+|S+|X+|Z|VV|.", format) %}
        {% set letter = token[0] %}
        {% if token in known %}
            {% set piece = known[token] %}
        {% elif token in ('MM', 'dd', 'HH', 'mm', 'ss') %}
            {% set piece = '([0-9]{2})' %}
        {% elif token in ('M', 'd', 'H', 'm', 's') %}
            {% set piece = '([0-9]{1,2})' %}
        {% elif letter == 'S' %}
            {% set piece = '([0-9]{1,6})0*' %}
        {% elif letter in 'XZV' %}
            {% set letter, piece = 'X', modules.re.sub('[(](?!Z)', '(?:', dbt.tidemark__zone_pattern()) %}
        {% elif letter in 'yMEa' %}
            {% do exceptions.raise_compiler_error("as_date and as_timestamp do not know '" ~ token ~ "' in the format '" ~ format ~ "'.") %}
        {% else %}
            {% set piece = modules.re.sub('([^A-Za-z0-9_ ])', '[\\1]', token.strip("'")) %}
        {% endif %}
        {% if piece.startswith('(') and not piece.startswith('(?:') %}
            {% do found.groups.append(token if token == 'yy' else letter) %}
        {% endif %}
        {% do found.update({'pattern': found.pattern ~ piece}) %}
    {% endfor %}
    {{ return({'pattern': '(?i)^' ~ found.pattern ~ '$', 'groups': found.groups}) }}
{% endmacro %}

{# SQL of one piece of a time: empty text if the value does not match. #}
{% macro tidemark__time_piece(text, time, letter) %}
    {% if letter not in time.groups %}
        {{ return("''") }}
    {% endif %}
    {{ return('regexp_extract(' ~ text ~ ", '" ~ dbt.tidemark__escaped(time.pattern) ~ "', " ~ (time.groups.index(letter) + 1) ~ ')') }}
{% endmacro %}
