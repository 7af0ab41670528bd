{# The query: one row with the number of failures of each test, in the columns `_0`, `_1` and so on. #}
{% macro tidemark__failures_of(unique_ids) %}
    {% set parts = {} %}
    {% for unique_id in unique_ids %}
        {% set test = graph.nodes[unique_id] %}
        {% set kind = dbt.tidemark__counted_alike(test) ~ ' ' ~ dbt.tidemark__windows_seen_by(test) %}
        {% do parts.setdefault(kind, {}).update({'_' ~ loop.index0: test}) %}
    {% endfor %}
    {% set queries = [] %}
    {% for tests in parts.values() %}
        {% set tables = dbt.tidemark__tables_seen_by(tests.values() | first) %}
        {% if tables | length == 1 %}
            {% do queries.append(dbt.tidemark__failures_in_rows(tests, dbt.tidemark__gained_rows(tables[0][0]))) %}
        {% else %}
            {% do queries.append(dbt.tidemark__failures_in_totals(
                tests, dbt.tidemark__signed_rows([{'relation': tables[0][0]}, {'relation': tables[1][0], 'read_by': tables[0][0]}])
            )) %}
        {% endif %}
    {% endfor %}
    {{ return('select * from (' ~ queries | join(') cross join (') ~ ')') }}
{% endmacro %}

{# Same arguments as `failures_in_totals`: the tests by column name. #}
{% macro tidemark__failures_in_rows(tests, rows) %}
    select
        {% for name, test in tests.items() -%}
        {%- set where = test.config.get('where') %}
        count_if({{ '(' ~ where ~ ') and ' if where }}({{ dbt.tidemark__failing_row(test) }})) as {{ name }}{{ ',' if not loop.last }}
        {% endfor %}
    from {{ rows }}
{% endmacro %}

{# The failure condition of the generic test with this name. #}
{% macro tidemark__failing_row(test) %}
    {% set asked = test.test_metadata.kwargs %}
    {% set column = asked.column_name %}
    {% if test.test_metadata.name == 'not_null' %}
        {{ return(column ~ ' is null') }}
    {% elif test.test_metadata.name == 'in_range' %}
        {{ return(
            column ~ ' is null' ~ (' or ' ~ column ~ ' < ' ~ asked.at_least if asked.at_least is defined else '')
            ~ (' or ' ~ column ~ ' > ' ~ asked.at_most if asked.at_most is defined else '')
        ) }}
    {% endif %}
    {% set quote = "'" if asked.get('quote', true) else '' %}
    {{ return(column ~ ' not in (' ~ quote ~ asked['values'] | join(quote ~ ', ' ~ quote) ~ quote ~ ')') }}
{% endmacro %}

{% macro tidemark__failures_in_totals(tests, rows) %}
    select
        {% for name in tests -%}
        if(coalesce(own.{{ name }}, 0) != coalesce(other.{{ name }}, 0), 1, 0) as {{ name }}{{ ',' if not loop.last }}
        {% endfor %}
    from (
        select
            {% for name, test in tests.items() -%}
            sum(_sign * {{ test.test_metadata.kwargs.column_name }}) as {{ name }}{{ ',' if not loop.last }}
            {% endfor %}
        from {{ rows[0] }}
    ) as own
    cross join (
        select
            {% for name, test in tests.items() -%}
            sum(_sign * ({{ test.test_metadata.kwargs.value }})) as {{ name }}{{ ',' if not loop.last }}
            {% endfor %}
        from {{ rows[1] }}
    ) as other
{% endmacro %}
