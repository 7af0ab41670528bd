{# Rows of earlier runs get the values of new columns, too. A model that reads changes is compiled again, to read all rows. #}
{% macro tidemark__rebuild_with_columns(relation, query, why) %}
    {% set is_plain = dbt.tidemark__is_plain(model) %}
    {% set joined = dbt.tidemark__run_state('joined')[model.unique_id].values() if is_plain else [] %}
    {% do dbt.tidemark__run_state('read_states').update({model.unique_id: adapter.decide().windows.with_new_columns(joined, why)}) %}
    {% if not is_plain %}
        {% do dbt.tidemark__run_state('windows').pop(model.unique_id) %}
        {% set whole = render(model.raw_code) %}
        {% do dbt.tidemark__note_joined_tables() %}
        {% set query = dbt.tidemark__checked_query(whole) %}
    {% endif %}
    {% do dbt.tidemark__refuse_loss(relation, query) %}
    {% do dbt.tidemark__replace_table(query) %}
{% endmacro %}

{# A model that has nothing to read, but may have new settings. #}
{% macro tidemark__report_nothing_new(relation, sql) %}
    {% if not dbt.tidemark__is_redeclared() or dbt.tidemark__conformed(relation, dbt.tidemark__checked_query(sql)) is not none %}
        {% do dbt.tidemark__report_written({}) %}
    {% endif %}
{% endmacro %}
