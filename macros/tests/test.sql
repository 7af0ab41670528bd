{# dbt's test materialization, but a test that passed is not run again until a table below it changes. #}
{% materialization test, adapter='spark' %}
    {% if not flags.EMPTY and tidemark.is_settled(model) %}
        {% set settled = tidemark.run_state('settled') %}
        {% if 'result' not in settled %}
            {% do settled.update(result=run_query('select 0 as failures, false as should_warn, false as should_error')) %}
        {% endif %}
        {% do store_raw_result('main', message='unchanged since it passed', code='UNCHANGED', rows_affected=0, agate_table=settled.result) %}
        {{ return({'relations': []}) }}
    {% endif %}
    {% set relations = dbt.materialization_test_default() %}
    {# one may pass with failures, up to its `error_if`; they must be counted again with those of the next run #}
    {% if load_result('main')['table'].rows[0]['failures'] | int %}
        {% do tidemark.run_state('let_pass').update({model.unique_id: true}) %}
    {% endif %}
    {{ return(relations) }}
{% endmaterialization %}
