{# The query, read with the names and types of the table's columns. #}
{% macro tidemark__read_as(query, step, types) %}
    {% set read = [] %}
    {% for name, expression in step.expressions.items() %}
        {% do read.append(expression ~ ' as ' ~ dbt.tidemark__quoted(name)) %}
    {% endfor %}
    {% for helper in query.helpers %}
        {% do read.append(dbt.tidemark__quoted(helper)) %}
    {% endfor %}
    {% set columns = types.keys() | list %}
    {% set keys = adapter.columns_named(query['keys'], columns) %}
    {{ return(dict(query, sql='select ' ~ read | join(', ') ~ ' from (' ~ query.sql ~ ')', columns=columns, types=types, keys=keys,
        newest_by=adapter.columns_named(query.newest_by, columns), values=columns | reject('in', keys) | list)) }}
{% endmacro %}

{# A model without declared columns has no contract to check. #}
{% macro tidemark__has_contract() %}
    {{ return(config.get('contract').enforced and model.columns) }}
{% endmacro %}
