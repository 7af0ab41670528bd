{# How a model's table is written: tidemark/engine/decision/ways.py decides it. #}
{% macro tidemark__way_of(node) %}
    {% set reads_by_macros = node.unique_id in dbt.tidemark__run_state('windows') %}
    {% set known = dbt.tidemark__run_state('ways of macros' if reads_by_macros else 'ways') %}
    {% if node.unique_id not in known %}
        {% do known.update({node.unique_id: adapter.model_way(node.unique_id, reads_by_macros)}) %}
    {% endif %}
    {{ return(known[node.unique_id]) }}
{% endmacro %}

{# True for a model whose table is kept equal to its query, from the changes of its sources (write_changes.sql). #}
{% macro tidemark__is_plain(node) %}
    {{ return(not dbt.tidemark__is_limited() and dbt.tidemark__way_of(node).name == 'derived') }}
{% endmacro %}

{# True in a command that gives models only a part of their sources' rows. Nothing that it writes is what a rebuild would give. #}
{% macro tidemark__is_limited() %}
    {{ return(adapter.is_limited()) }}
{% endmacro %}
