{# The reason of the first broken rule, or null. A rule: SQL that is true if it is broken, the reason, and maybe SQL of the value that broke it.
   No rule applies to rows for which `unless` is true. #}
{% macro rejection_reason(rules, unless=none) -%}
    case
        {% if unless -%}
        when {{ unless }} then null
        {% endif -%}
        {% for rule in rules -%}
        when {{ rule[0] }} then {% if rule | length > 2 -%}
        concat('{{ dbt.tidemark__escaped(rule[1]) }}', {{ dbt.tidemark__shown_value(rule[2]) }})
        {%- else -%}
        '{{ dbt.tidemark__escaped(rule[1]) }}'
        {%- endif %}
        {% endfor -%}
    end
{%- endmacro %}
