{# Commits a change that a writer has prepared, in one statement, or nothing if nothing differs. #}
{% macro tidemark__commit_change(relation, change) %}
    {% if change.pruned %}
        {% do dbt.tidemark__run_state('pruning').update({model.unique_id: change.pruned}) %}
    {% endif %}
    {% do dbt.tidemark__check_cost() %}
    {% if change.statement %}
        {% do dbt.tidemark__audit(change.audit.gained, change.audit.whole, change.audit.batch) %}
        {% do write(change.statement) %}  {# into target/run #}
        {% do run_query(change.statement) %}
        {% set commit = adapter.note_commit(relation) %}
    {% endif %}
    {% do dbt.tidemark__drop_views_of(change) %}
    {% do dbt.tidemark__report_written(change.written(commit if change.statement else none)) %}
{% endmacro %}

{% macro tidemark__drop_views_of(change) %}
    {% for name in change.views %}
        {% do dbt.tidemark__drop_cached_view(name) %}
    {% endfor %}
{% endmacro %}
