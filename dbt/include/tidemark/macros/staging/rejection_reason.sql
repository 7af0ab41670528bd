{# The reason of the first broken rule, or null. A rule is a pair: SQL that is true if the rule is broken, and the reason. #}
{% macro rejection_reason(rules) -%}
    case
        {% for broken, words in rules -%}
        when {{ broken }} then '{{ dbt.escaped(words) }}'
        {% endfor -%}
    end
{%- endmacro %}
