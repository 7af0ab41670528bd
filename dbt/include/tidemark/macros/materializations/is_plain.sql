{# How a model's table is written: tidemark/engine/decision/ways.py decides it. #}
{% macro way_of(node) %}
    {{ return(adapter.model_way(node.unique_id, node.unique_id in dbt.run_state('windows'))) }}
{% endmacro %}

{# True for a model whose table is kept equal to its query, from the changes of its sources (write_changes.sql). #}
{% macro is_plain(node) %}
    {{ return(not dbt.is_limited() and dbt.way_of(node).name == 'derived') }}
{% endmacro %}

{# True in a command that gives models only a part of their sources' rows. Nothing that it writes is what a rebuild would give. #}
{% macro is_limited() %}
    {{ return(adapter.is_limited()) }}
{% endmacro %}
