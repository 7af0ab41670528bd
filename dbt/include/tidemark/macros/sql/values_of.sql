{# The distinct values of a column: all of them if there are at most `limit`, else only their bounds. #}
{% macro values_of(column, rows, limit=200, text='cast({} as string)') %}
    {% set name = dbt.quoted(column) %}
    {% set found = run_query(
        'select count(*) as number, count_if(found is null) as nulls, max(typeof(found)) as type, '
        ~ text.format('min(found)') ~ ' as lowest, ' ~ text.format('max(found)') ~ ' as highest, '
        ~ 'if(count(*) <= ' ~ limit ~ ', to_json(sort_array(collect_list(' ~ text.format('found') ~ '))), null) as each '
        ~ 'from (select distinct ' ~ name ~ ' as found from ' ~ rows ~ ')'
    ).rows[0] %}
    {% if found['type'] == 'binary' and text != 'hex({})' %}
        {{ return(dbt.values_of(column, rows, limit, 'hex({})')) }}  {# as text, bytes that are not UTF-8 are lost #}
    {% endif %}
    {{ return({
        'column': column, 'number': found['number'] | int, 'nulls': found['nulls'] | int, 'type': found['type'],
        'lowest': found['lowest'], 'highest': found['highest'], 'each': fromjson(found['each']) if found['each'] else none
    }) }}
{% endmacro %}

{# A predicate on `column` that is true for all of the values. #}
{% macro in_values(column, values) %}
    {% set bounds = [] %}
    {% if values.nulls %}
        {% do bounds.append(column ~ ' is null') %}
    {% endif %}
    {% if values.each %}
        {% set literals = [] %}
        {% for value in values.each %}
            {% do literals.append(dbt.typed_literal(value, values.type)) %}
        {% endfor %}
        {% do bounds.append(column ~ ' in (' ~ literals | join(', ') ~ ')') %}
    {% elif values.lowest is not none %}
        {% do bounds.append(
            column ~ ' between ' ~ dbt.typed_literal(values.lowest, values.type)
            ~ ' and ' ~ dbt.typed_literal(values.highest, values.type)
        ) %}
    {% endif %}
    {{ return('(' ~ bounds | join(' or ') ~ ')' if bounds else 'false') }}
{% endmacro %}

{% macro typed_literal(value, type) %}
    {{ return("unhex('" ~ value ~ "')" if type == 'binary' else "cast('" ~ dbt.escaped(value) ~ "' as " ~ type ~ ')') }}
{% endmacro %}
