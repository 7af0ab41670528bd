{# dbt's test materialization, except that a test whose outcome is known runs no query. #}
{% materialization test, adapter='tidemark' %}
    {% set why = none if flags.EMPTY else dbt.why_it_passes(model) %}
    {% if why %}
        {% do store_raw_result('main', message=why, code='PASS', rows_affected=0, agate_table=adapter.no_failures()) %}
        {{ return({'relations': []}) }}
    {% endif %}
    {% set relations = dbt.materialization_test_default() %}
    {# one may pass with failures, up to its `error_if`; they must be counted again with those of the next run #}
    {% if load_result('main')['table'].rows[0]['failures'] | int %}
        {% do dbt.run_state('let_pass').update({model.unique_id: true}) %}
    {% endif %}
    {{ return(relations) }}
{% endmaterialization %}
