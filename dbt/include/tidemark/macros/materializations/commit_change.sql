{# Commits a change that a writer has prepared, in one statement, or nothing if nothing differs. #}
{% macro commit_change(relation, change) %}
    {% if change.pruned %}
        {% do dbt.run_state('pruning').update({model.unique_id: change.pruned}) %}
    {% endif %}
    {% do dbt.check_cost() %}
    {% if change.statement %}
        {% do dbt.audit(change.audit.gained, change.audit.whole, change.audit.batch) %}
        {% do write(change.statement) %}  {# into target/run #}
        {% do run_query(change.statement) %}
        {% set commit = adapter.note_commit(relation) %}
    {% endif %}
    {% do dbt.drop_views_of(change) %}
    {% do dbt.report_written(change.written(commit if change.statement else none)) %}
{% endmacro %}

{% macro drop_views_of(change) %}
    {% for name in change.views %}
        {% do dbt.drop_cached_view(name) %}
    {% endfor %}
{% endmacro %}
