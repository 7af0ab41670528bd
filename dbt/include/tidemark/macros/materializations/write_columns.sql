{# Adds columns that the table does not have, writes the values that differ, and sets the contract's new constraints. #}
{% macro tidemark__write_columns(relation, query, present, named, change) %}
    {% set added = [] %}
    {% for column in named if column not in present %}
        {% do added.append(dbt.tidemark__quoted(column) ~ ' ' ~ query.types[column]) %}
    {% endfor %}
    {% if added %}
        {% do run_query('alter table ' ~ relation ~ ' add columns (' ~ added | join(', ') ~ ')') %}
        {% do dbt.tidemark__forget_table(relation) %}
    {% endif %}
    {% if change.statement %}
        {% do run_query(change.statement) %}
        {% set commit = adapter.note_commit(relation) %}
    {% endif %}
    {% if var('rebuild_where', none) %}
        {# other rows may be without their values: the next command has to look at all of them #}
        {% do dbt.tidemark__run_state('partly').update({model.unique_id: true}) %}
    {% else %}
        {% do dbt.tidemark__by_format('add_guards')(relation, dbt.tidemark__table_properties(model)) %}
    {% endif %}
    {% do dbt.tidemark__report_written(change.written(commit if change.statement else none)) %}
    {% do dbt.tidemark__forget_table(relation) %}
{% endmacro %}
