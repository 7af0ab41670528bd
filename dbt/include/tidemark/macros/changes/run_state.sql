{# A dictionary that lives as long as this dbt command: all its nodes and threads share `graph`. #}
{% macro tidemark__run_state(name) %}
    {{ return(graph.setdefault('tidemark ' ~ invocation_id, {}).setdefault(name, {})) }}
{% endmacro %}
