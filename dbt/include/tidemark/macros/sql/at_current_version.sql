{# A table at its current version. Without the version, Spark recomputes views kept from the table when the table is written. #}
{% macro tidemark__at_current_version(relation) %}
    {% set reading = dbt.tidemark__as_of(relation, adapter.table_state(relation).version) %}
    {% set added = [] %}
    {% for name, type in dbt.tidemark__run_state('added_columns').get(model.unique_id, {}).items() if relation == this %}
        {% do added.append(', cast(null as ' ~ type ~ ') as ' ~ dbt.tidemark__quoted(name)) %}
    {% endfor %}
    {{ return('(select *' ~ added | join ~ ' from ' ~ reading ~ ')' if added else reading) }}
{% endmacro %}

{# An Iceberg table has the columns of its last snapshot when it is read by version: without those that were added since. #}
{% macro tidemark__note_added_columns(relation) %}
    {% if dbt.tidemark__table_format() == 'iceberg' and config.get('on_schema_change') in ('append_new_columns', 'sync_all_columns') %}
        {% set of_snapshot = [] %}
        {% for column in get_column_schema_from_query('select * from ' ~ dbt.tidemark__as_of(relation, adapter.table_state(relation).version)) %}
            {% do of_snapshot.append(column.name) %}
        {% endfor %}
        {% set added = {} %}
        {% for name, type in dbt.tidemark__columns_of(relation).items() if name not in of_snapshot %}
            {% do added.update({name: type}) %}
        {% endfor %}
        {% do dbt.tidemark__run_state('added_columns').update({model.unique_id: added}) %}
    {% endif %}
{% endmacro %}
