{# Runs the model's tests on what it is about to write. If one fails, nothing is written, and the batch is kept.
   `gained`, `whole` and `batch` are queries. #}
{% macro tidemark__audit(gained, whole, batch) %}
    {% set tests = dbt.tidemark__audited_tests() if dbt.tidemark__is_audited() else [] %}
    {% if not tests %}
        {{ return('') }}
    {% endif %}
    {% set views = {'gained': dbt.tidemark__audited_view('gained', gained), 'whole': dbt.tidemark__audited_view('whole', whole)} %}
    {% set failures = dbt.tidemark__failed_in_audit(tests, views) %}
    {% set failed_batch = api.Relation.create(schema=generate_schema_name('audit', none), identifier=this.schema ~ '_' ~ this.identifier) %}
    {% if failures %}
        {% do run_query('create schema if not exists ' ~ failed_batch.schema) %}
        {% do run_query('create or replace table ' ~ failed_batch ~ ' using ' ~ dbt.tidemark__table_format() ~ ' as ' ~ batch) %}
        {% do dbt.tidemark__run_state('failed_audits').update({model.unique_id: {'failures': failures, 'batch': dbt.tidemark__table_name(failed_batch)}}) %}
    {% elif adapter.is_there(failed_batch) %}
        {% do run_query('drop table ' ~ failed_batch) %}
    {% endif %}
    {% do dbt.tidemark__drop_cached_view('whole') %}
    {% do dbt.tidemark__drop_cached_view('gained') %}
    {% if failures %}
        {% set failed_tests = [] %}
        {% for name, count in failures.items() %}
            {% do failed_tests.append(name ~ ' (' ~ count ~ ')') %}
        {% endfor %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ': the audit failed, and nothing was written. Tests with failures in this batch: '
            ~ failed_tests | join(', ') ~ '. The batch is in ' ~ dbt.tidemark__table_name(failed_batch)
            ~ '. Correct the source, the model or the test, and run again: '
            ~ 'the run reads the same rows again.'
        ) %}
    {% endif %}
{% endmacro %}

{# True if `meta.audit` of the model, or else the variable `audit`, asks for an audit. #}
{% macro tidemark__is_audited() %}
    {% set asked = config.get('meta', {}).get('audit', var('audit', false)) %}
    {% if asked is not boolean %}
        {% do exceptions.raise_compiler_error(this.identifier ~ ': audit is ' ~ asked ~ '. Set it to true or false.') %}
    {% endif %}
    {{ return(asked and not flags.EMPTY) }}
{% endmacro %}

{# A temporary view, dropped at the latest when the command ends. #}
{% macro tidemark__audited_view(name, query) %}
    {% set view = dbt.tidemark__cached_view_name(name) %}
    {% do run_query('create or replace temporary view ' ~ view ~ ' as ' ~ query) %}
    {% do dbt.tidemark__run_state('cached_views').update({view: true}) %}
    {% do dbt.tidemark__run_state('audited').update({view: this}) %}
    {{ return(api.Relation.create(identifier=view)) }}
{% endmacro %}
