{# The query, read with the names and types of the table's columns. #}
{% macro read_as(query, step, types) %}
    {% set read = [] %}
    {% for name, expression in step.expressions.items() %}
        {% do read.append(expression ~ ' as ' ~ dbt.quoted(name)) %}
    {% endfor %}
    {% for helper in query.helpers %}
        {% do read.append(dbt.quoted(helper)) %}
    {% endfor %}
    {% set columns = types.keys() | list %}
    {% set keys = adapter.columns_named(query['keys'], columns) %}
    {{ return(dict(query, sql='select ' ~ read | join(', ') ~ ' from (' ~ query.sql ~ ')', columns=columns, types=types, keys=keys,
        newest_by=adapter.columns_named(query.newest_by, columns), values=columns | reject('in', keys) | list)) }}
{% endmacro %}

{# A model without declared columns has no contract to check. #}
{% macro has_contract() %}
    {{ return(config.get('contract').enforced and model.columns) }}
{% endmacro %}
