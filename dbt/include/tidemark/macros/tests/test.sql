{# dbt's test materialization, except that a test whose outcome is known runs no query. With the var `as_of` none is known; failures
   that are stored are computed, so that their table is there. #}
{% materialization test, adapter='tidemark' %}
    {% if adapter.reads_past() and should_store_failures() %}
        {% do exceptions.raise_compiler_error(
            model.name ~ ' stores its failures in a table, and with `as_of` nothing is written. Leave it out: `--exclude ' ~ model.name ~ '`.'
        ) %}
    {% endif %}
    {% set must_run = flags.EMPTY or adapter.reads_past() or should_store_failures() %}
    {% set why = none if must_run else dbt.tidemark__why_it_passes(model) %}
    {% if why %}
        {% do store_raw_result('main', message=why, code='PASS', rows_affected=0, agate_table=adapter.no_failures()) %}
        {{ return({'relations': []}) }}
    {% endif %}
    {% set fewer = none if must_run else dbt.tidemark__over_gained_rows(model, sql) %}
    {% if fewer %}
        {% do context.update({'sql': fewer}) %}
    {% endif %}
    {% set relations = dbt.materialization_test_default() %}
    {# one may pass with failures, up to its `error_if`; they must be counted again with those of the next run #}
    {% if load_result('main')['table'].rows[0]['failures'] | int %}
        {% do dbt.tidemark__run_state('let_pass').update({model.unique_id: true}) %}
    {% endif %}
    {{ return(relations) }}
{% endmaterialization %}
