{# Iceberg has no CHECK constraints: these assertions check each written row, and `guards` stores them as a property. #}
{% macro iceberg_assertions(query) %}
    {% set found = {} %}
    {% for name, expression in dbt.constraints_of(model).items() %}
        {% do found.update({expression: 'its contract says `' ~ expression | replace('`', '') ~ '` (' ~ name ~ '), but a row violates it.'}) %}
    {% endfor %}
    {{ return(found) }}
{% endmacro %}

{% macro iceberg_guards(constraints) %}
    {{ return({'tidemark.constraints': tojson(constraints, sort_keys=true)}) }}
{% endmacro %}

{# Only Tidemark's own statements check constraints. #}
{% macro iceberg_enforced(properties) %}
    {{ return([]) }}
{% endmacro %}

{% macro iceberg_guard_prefix() %}
    {{ return('tidemark.constraints') }}
{% endmacro %}
