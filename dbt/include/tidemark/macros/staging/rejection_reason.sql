{# The reason of the first broken rule, or null. A rule: SQL that is true if it is broken, the reason, and maybe SQL of the value that broke it. #}
{% macro rejection_reason(rules) -%}
    case
        {% for rule in rules -%}
        when {{ rule[0] }} then {% if rule | length > 2 -%}
        concat('{{ dbt.escaped(rule[1]) }}', {{ dbt.shown_value(rule[2]) }})
        {%- else -%}
        '{{ dbt.escaped(rule[1]) }}'
        {%- endif %}
        {% endfor -%}
    end
{%- endmacro %}
