{# How a plain model reads: not at all if its sources and its own table are as its last run left them. `changed` are the
   sources that are not, and `is_whole` says that their changes cannot be read one by one. #}
{% macro plain_read_state() %}
    {% set changed = [] %}
    {% set why = namespace(changed=none, whole=dbt.lost_table()) %}
    {% for node in dbt.tables_below(model) if not dbt.is_view(node) %}
        {% set source = dbt.relation_of(node) %}
        {% set name = dbt.table_name(source) %}
        {% set checkpoint = dbt.checkpoint(this, name) if dbt.has_versions(source) else none %}
        {% if not checkpoint %}
            {% set why.whole = name ~ (' has no checkpoint yet' if dbt.has_versions(source) else ' has no versions') %}
        {% elif dbt.lost_join(source, checkpoint) %}
            {% do changed.append(name) %}
            {% set why.changed = why.changed or name ~ ' has changed' %}
            {% set why.whole = why.whole or dbt.lost_history(
                source, checkpoint, dbt.table_state(source), false
            ) %}  {# both sides of each change are read, so landed rows may change #}
        {% endif %}
    {% endfor %}
    {{ return({
        'state': 'full' if why.whole or changed else 'incremental', 'why': why.whole or why.changed or 'incremental',
        'changed': changed | unique | list, 'is_whole': why.whole is not none
    }) }}
{% endmacro %}

{# Makes the table equal to the query: keys that the query does not return are deleted, and nothing is committed if nothing
   differs. Rows of a model that accumulates stay. #}
{% macro write_difference(relation, query) %}
    {% if not query['keys'] %}
        {% do dbt.write_bag(relation, query) %}
    {% else %}
        {% if not dbt.way_of(model).accumulates %}
            {% do dbt.refuse_loss(relation, query) %}
        {% endif %}
        {% do dbt.commit_change(relation, dbt.writer(relation, query).equal()) %}
    {% endif %}
{% endmacro %}
