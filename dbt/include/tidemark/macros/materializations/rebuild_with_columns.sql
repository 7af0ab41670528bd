{# Rows of earlier runs get the values of new columns, too. A model that reads changes is compiled again, to read all rows. #}
{% macro rebuild_with_columns(relation, query, why) %}
    {% set is_plain = dbt.is_plain(model) %}
    {% set joined = dbt.run_state('joined')[model.unique_id].values() if is_plain else [] %}
    {% do dbt.run_state('read_states').update({model.unique_id: adapter.decide().windows.with_new_columns(joined, why)}) %}
    {% if not is_plain %}
        {% do dbt.run_state('windows').pop(model.unique_id) %}
        {% set whole = render(model.raw_code) %}
        {% do dbt.note_joined_tables() %}
        {% set query = dbt.checked_query(whole) %}
    {% endif %}
    {% do dbt.refuse_loss(relation, query) %}
    {% do dbt.replace_table(query) %}
{% endmacro %}

{# A model that has nothing to read, but may have new settings. #}
{% macro report_nothing_new(relation, sql) %}
    {% if not dbt.is_redeclared() or dbt.conformed(relation, dbt.checked_query(sql)) is not none %}
        {% do dbt.report_written({}) %}
    {% endif %}
{% endmacro %}
