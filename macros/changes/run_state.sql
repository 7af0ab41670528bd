{# A dictionary that lives as long as this dbt command: `graph` is shared by all its nodes and threads. #}
{% macro run_state(name) %}
    {{ return(graph.setdefault('tidemark ' ~ invocation_id, {}).setdefault(name, {})) }}
{% endmacro %}
