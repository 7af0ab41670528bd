{# One query counts the failures of several tests: those of this command that read the same rows of a table. If it finds any
   failure, each test runs its own query and reports what it found. #}
{% macro tidemark__seen_with_others(test) %}
    {% set others = dbt.tidemark__tests_of_the_same_rows(test) %}
    {% if others | length < 2 %}
        {{ return(none) }}
    {% endif %}
    {% set found = adapter.first_row(dbt.tidemark__run_state('seen'), dbt.tidemark__failures_of(others)) %}
    {{ return('seen with others' if found and found['_' ~ others.index(test.unique_id)] == 0 else none) }}
{% endmacro %}

{# The ids of these tests, in the order of the graph. Empty if the test must run by itself. #}
{% macro tidemark__tests_of_the_same_rows(test) %}
    {% set found = [] %}
    {% if dbt.tidemark__counted_alike(test) %}
        {% set window = dbt.tidemark__windows_seen_by(test)[0] %}
        {% for other in graph.nodes.values() if other.resource_type == 'test' and other.unique_id in selected_resources
            and dbt.tidemark__tested_node(other) == dbt.tidemark__tested_node(test) %}
            {% if dbt.tidemark__counted_alike(other) and dbt.tidemark__windows_seen_by(other)[0] == window and not dbt.tidemark__proof_of(other) %}
                {% do found.append(other.unique_id) %}
            {% endif %}
        {% endfor %}
    {% endif %}
    {{ return(found if test.unique_id in found else []) }}
{% endmacro %}

{# The kind of a test whose failures can be counted together with those of other tests, or none. A test with its own
   thresholds, limits or Jinja in its arguments runs by itself. #}
{% macro tidemark__counted_alike(test) %}
    {% set asked = test.test_metadata or {'name': none} %}
    {% set settings = test.config %}
    {% if asked.name not in ('not_null', 'accepted_values', 'in_range', 'same_total')
        or not dbt.tidemark__is_built_in(test)
        or (settings.warn_if, settings.error_if, settings.fail_calc) != ('!= 0', '!= 0', 'count(*)')
        or settings.limit or settings.store_failures or dbt.tidemark__reads_more(test) %}
        {{ return(none) }}
    {% endif %}
    {% for argument, value in asked.kwargs.items() if argument != 'model' and '{' in value | string %}
        {{ return(none) }}
    {% endfor %}
    {% if asked.name != 'same_total' %}
        {{ return('rows') }}
    {% endif %}
    {# the other table is there already where the tested one reads it #}
    {% set own_id = dbt.tidemark__tested_node(test) %}
    {% set others = test.depends_on.nodes | reject('equalto', own_id) | list %}
    {% set below = graph.nodes[own_id].depends_on.nodes if own_id in graph.nodes else [] %}
    {{ return('totals of ' ~ others[0] if others | length == 1 and others[0] in below else none) }}
{% endmacro %}

{# True for a generic test of dbt's or the engine's, and not one of the same name of the project's. #}
{% macro tidemark__is_built_in(test) %}
    {% set macros = test.depends_on.macros %}
    {% set name = 'test_' ~ test.test_metadata.name %}
    {{ return('macro.dbt.' ~ name in macros or 'macro.dbt_tidemark.' ~ name in macros) }}
{% endmacro %}
