{# What a model has read of a source so far, for tests: in this command if it ran, else by its checkpoint. #}
{% macro consumed(relation, by) %}
    {% if not execute %}
        {{ return(relation) }}
    {% endif %}
    {% set source = tidemark.table_name(relation) %}
    {% set ns = namespace(version=none) %}
    {% for node in graph.nodes.values() if node.resource_type == 'model' and node.schema == by.schema and node.alias == by.identifier %}
        {% set window = tidemark.run_state('windows').get(node.unique_id, {}).get(source) %}
        {% set ns.version = window.last if window else none %}
    {% endfor %}
    {% if ns.version is none %}
        {% set mark = tidemark.checkpoint(by, source) %}
        {% set ns.version = mark.version if mark else none %}
    {% endif %}
    {{ return('(select * from ' ~ relation ~ (' where false' if ns.version is none else ' version as of ' ~ ns.version) ~ ')') }}
{% endmacro %}
