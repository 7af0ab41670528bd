{# The changes of a staging model: its query over the changes of the one table that it reads (tidemark/engine/adapter/staged.py). With
   `--empty` or `--sample`, dbt limits the rows of that table. #}
{% macro tidemark__staged_changes(relation) %}
    {{ return(relation if dbt.tidemark__is_limited() else adapter.staged_changes(builtins.ref, builtins.source, relation.identifier, dbt.changes)) }}
{% endmacro %}

{# True for a relation that ref() gives for an ephemeral model. In a unit test, such relations have the given rows. #}
{% macro tidemark__is_staging(relation) %}
    {{ return(relation.is_cte and not model.get('tested_node_unique_id')) }}
{% endmacro %}

{# The nodes that a node reads by its own SQL and by that of ephemeral models, which is a part of it. #}
{% macro tidemark__read_by(node) %}
    {% set found = [] %}
    {% for below in dbt.tidemark__dependencies(node) %}
        {% if below.resource_type == 'model' and below.config.materialized == 'ephemeral' %}
            {% do found.extend(dbt.tidemark__read_by(below)) %}
        {% else %}
            {% do found.append(below) %}
        {% endif %}
    {% endfor %}
    {{ return(found) }}
{% endmacro %}
