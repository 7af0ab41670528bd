{# The number of landed rows that a model's run accounts for in this command, or none if it did not run: the versions that
   its SQL counts as `_versions`, else its rows. #}
{% macro tidemark__accounted_rows(unique_id) %}
    {% set wrote = dbt.tidemark__run_state('written').get(unique_id) %}
    {% if not wrote %}
        {{ return(none) }}
    {% elif wrote.get('versions') is none and wrote.get('sql') %}
        {% do wrote.update(versions=run_query('select sum(_versions) as rows from (' ~ wrote.sql ~ ')').rows[0]['rows'] or 0) %}
    {% endif %}
    {% if wrote.get('versions') is not none %}
        {{ return(wrote.versions) }}
    {% endif %}
    {{ return(wrote.get('inserted', 0) + wrote.get('updated', 0) + wrote.get('unchanged', 0) + wrote.get('superseded', 0)) }}
{% endmacro %}

{# A test's query: the rows that a model and its rejected_* model read in this command = the rows that the two account for. #}
{% macro row_balance(accepted, rejected) %}
    {% if not execute %}
        {{ return('select 1 as found from ' ~ accepted ~ ' cross join ' ~ rejected) }}
    {% endif %}
    {# rows that came to nothing change no table, so this test is always looked at #}
    {% do dbt.tidemark__run_state('unsettled').update({model.unique_id: true}) %}
    {% set ids = [dbt.tidemark__model_of(accepted).unique_id, dbt.tidemark__model_of(rejected).unique_id] %}
    {% set windows = dbt.tidemark__run_state('windows') %}
    {% set accepted_windows = windows.get(ids[0], {}).values() | list %}
    {% set counts = {'rows_read': 0, 'rows_accepted': 0, 'rows_rejected': 0} %}
    {% if accepted_windows and dbt.tidemark__run_state('written').get(ids[0]) and dbt.tidemark__run_state('written').get(ids[1])
        and accepted_windows | map(attribute='message') | list == windows.get(ids[1], {}).values() | map(attribute='message') | list %}
        {% for window in accepted_windows %}
            {% do counts.update(rows_read=counts.rows_read + dbt.tidemark__read_metrics(dbt.tidemark__relation_named(window.source), window).rows) %}
        {% endfor %}
        {% do counts.update(rows_accepted=dbt.tidemark__accounted_rows(ids[0]), rows_rejected=dbt.tidemark__accounted_rows(ids[1])) %}
    {% endif %}
    {{ return(
        'select * from values (' ~ counts.values() | join(', ') ~ ') as counted (' ~ counts.keys() | join(', ') ~ ') '
        ~ 'where rows_read != rows_accepted + rows_rejected'
    ) }}
{% endmacro %}
