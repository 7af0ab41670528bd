{# One query counts the failures of several tests: those of this command that read the same rows of a table. If it finds any
   failure, each test runs its own query and reports what it found. #}
{% macro seen_with_others(test) %}
    {% set others = dbt.tests_of_the_same_rows(test) %}
    {% if others | length < 2 %}
        {{ return(none) }}
    {% endif %}
    {% set found = adapter.first_row(dbt.run_state('seen'), dbt.failures_of(others)) %}
    {{ return('seen with others' if found and found['_' ~ others.index(test.unique_id)] == 0 else none) }}
{% endmacro %}

{# The ids of these tests, in the order of the graph. Empty if the test must run by itself. #}
{% macro tests_of_the_same_rows(test) %}
    {% set found = [] %}
    {% if dbt.counted_alike(test) %}
        {% set window = dbt.windows_seen_by(test)[0] %}
        {% for other in graph.nodes.values() if other.resource_type == 'test' and other.unique_id in selected_resources
            and dbt.tested_node(other) == dbt.tested_node(test) %}
            {% if dbt.counted_alike(other) and dbt.windows_seen_by(other)[0] == window and not dbt.proof_of(other) %}
                {% do found.append(other.unique_id) %}
            {% endif %}
        {% endfor %}
    {% endif %}
    {{ return(found if test.unique_id in found else []) }}
{% endmacro %}

{# The kind of a test whose failures can be counted together with those of other tests, or none. A test with its own
   thresholds, limits or Jinja in its arguments runs by itself. #}
{% macro counted_alike(test) %}
    {% set asked = test.test_metadata or {'name': none} %}
    {% set settings = test.config %}
    {% set macros = test.depends_on.macros %}
    {% if asked.name not in ('not_null', 'accepted_values', 'in_range', 'same_total')
        or 'macro.dbt.test_' ~ asked.name not in macros and 'macro.dbt_tidemark.test_' ~ asked.name not in macros
        or (settings.warn_if, settings.error_if, settings.fail_calc) != ('!= 0', '!= 0', 'count(*)')
        or settings.limit or settings.store_failures or dbt.reads_more(test) %}
        {{ return(none) }}
    {% endif %}
    {% for argument, value in asked.kwargs.items() if argument != 'model' and '{' in value | string %}
        {{ return(none) }}
    {% endfor %}
    {% if asked.name != 'same_total' %}
        {{ return('rows') }}
    {% endif %}
    {# the other table is there already where the tested one reads it #}
    {% set own_id = dbt.tested_node(test) %}
    {% set others = test.depends_on.nodes | reject('equalto', own_id) | list %}
    {% set below = graph.nodes[own_id].depends_on.nodes if own_id in graph.nodes else [] %}
    {{ return('totals of ' ~ others[0] if others | length == 1 and others[0] in below else none) }}
{% endmacro %}

{# The id of the table that a generic test is declared for. dbt does not give it for sources. #}
{% macro tested_node(test) %}
    {{ return(test.get('attached_node') or test.depends_on.nodes | first) }}
{% endmacro %}

{# The windows of a test, without their text. #}
{% macro windows_seen_by(test) %}
    {% set seen = [] %}
    {% for relation, version in dbt.tables_seen_by(test) %}
        {% set window = dbt.tested_window(relation, version, test) %}
        {% do seen.append([window.state, window.after, window.last]) %}
    {% endfor %}
    {{ return(seen) }}
{% endmacro %}

{# The test's own table, then the table that it is compared with, up to the version that its own table has read. #}
{% macro tables_seen_by(test) %}
    {% set own_id = dbt.tested_node(test) %}
    {% set own = dbt.relation_of(graph.nodes.get(own_id) or graph.sources[own_id]) %}
    {% set tables = [[own, none]] %}
    {% for node in dbt.dependencies(test) if node.unique_id != own_id %}
        {% set other = dbt.relation_of(node) %}
        {% do tables.append([other, dbt.consumed_version(other, own)]) %}
    {% endfor %}
    {{ return(tables) }}
{% endmacro %}

{# The query: one row with the number of failures of each test, in the columns `_0`, `_1` and so on. #}
{% macro failures_of(unique_ids) %}
    {% set parts = {} %}
    {% for unique_id in unique_ids %}
        {% set test = graph.nodes[unique_id] %}
        {% set kind = dbt.counted_alike(test) ~ ' ' ~ dbt.windows_seen_by(test) %}
        {% do parts.setdefault(kind, {}).update({'_' ~ loop.index0: test}) %}
    {% endfor %}
    {% set queries = [] %}
    {% for tests in parts.values() %}
        {% set tables = dbt.tables_seen_by(tests.values() | first) %}
        {% if tables | length == 1 %}
            {% do queries.append(dbt.failures_in_rows(tests, dbt.gained_rows(tables[0][0]))) %}
        {% else %}
            {% do queries.append(dbt.failures_in_totals(
                tests, dbt.signed_rows([{'relation': tables[0][0]}, {'relation': tables[1][0], 'read_by': tables[0][0]}])
            )) %}
        {% endif %}
    {% endfor %}
    {{ return('select * from (' ~ queries | join(') cross join (') ~ ')') }}
{% endmacro %}

{# Same arguments as `failures_in_totals`: the tests by column name. #}
{% macro failures_in_rows(tests, rows) %}
    select
        {% for name, test in tests.items() -%}
        count_if({{ '(' ~ test.config.get('where') ~ ') and ' if test.config.get('where') }}({{ dbt.failing_row(test) }})) as {{ name }}{{ ',' if not loop.last }}
        {% endfor %}
    from {{ rows }}
{% endmacro %}

{# The failure condition of the generic test with this name. #}
{% macro failing_row(test) %}
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

{% macro failures_in_totals(tests, rows) %}
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
