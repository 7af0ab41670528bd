{# The reason of the first broken rule, or null. A rule is a pair: SQL that is true if the rule is broken, and the reason.
   No rule applies to rows for which `unless` is true. #}
{% macro rejection_reason(rules, unless=none) -%}
    case
        {% if unless -%}
        when {{ unless }} then null
        {% endif -%}
        {% for broken, words in rules -%}
        when {{ broken }} then '{{ dbt.escaped(words) }}'
        {% endfor -%}
    end
{%- endmacro %}
