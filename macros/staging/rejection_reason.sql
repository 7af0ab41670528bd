{# The first broken rule's words, or null. A rule is a pair: SQL that is true when it is broken, and words. #}
{% macro rejection_reason(rules) -%}
    case
        {% for broken, words in rules -%}
        when {{ broken }} then '{{ tidemark.escaped(words) }}'
        {% endfor -%}
    end
{%- endmacro %}
