{# Iceberg has no CHECK constraints: these assertions check each written row, and `guards` stores them as a property. #}
{% macro tidemark__iceberg_assertions(query) %}
    {% set found = {} %}
    {% for name, expression in dbt.tidemark__constraints_of(model).items() %}
        {% do found.update({expression: 'its contract says `' ~ expression | replace('`', '') ~ '` (' ~ name ~ '), but a row violates it.'}) %}
    {% endfor %}
    {{ return(found) }}
{% endmacro %}

{% macro tidemark__iceberg_guards(constraints) %}
    {{ return({'tidemark.constraints': tojson(constraints, sort_keys=true)}) }}
{% endmacro %}

{# Only Tidemark's own statements check constraints. #}
{% macro tidemark__iceberg_enforced(properties) %}
    {{ return([]) }}
{% endmacro %}

{% macro tidemark__iceberg_guard_prefix() %}
    {{ return('tidemark.constraints') }}
{% endmacro %}
