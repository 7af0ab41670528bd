{# The number of failures by the name of the test, for those that fail. Tests of single rows are counted by one query. #}
{% macro tidemark__failed_in_audit(tests, views) %}
    {% set failures = {} %}
    {% set alike = {} %}
    {% for test in tests %}
        {% if dbt.tidemark__counted_alike(test) == 'rows' %}
            {% do alike.update({'_' ~ loop.index0: test}) %}
        {% else %}
            {% set view = views['gained' if dbt.tidemark__looks_at_rows(test) else 'whole'] %}
            {% set settings = test.config %}
            {% set result = run_query(get_test_sql(
                adapter.compiled_test(ref, test.unique_id, this, view),
                settings.fail_calc, settings.warn_if, settings.error_if, settings.limit
            ))[0] %}
            {% do dbt.tidemark__run_state('windows').pop(test.unique_id, none) %}  {# the test itself reads the table after the commit #}
            {% if result['should_error'] %}
                {% do failures.update({test.name: result['failures'] | int}) %}
            {% endif %}
        {% endif %}
    {% endfor %}
    {% if alike %}
        {% set counts = run_query(dbt.tidemark__failures_in_rows(alike, views.gained))[0] %}
        {% for column, test in alike.items() if counts[column] %}
            {% do failures.update({test.name: counts[column] | int}) %}
        {% endfor %}
    {% endif %}
    {{ return(failures) }}
{% endmacro %}
