{# A node as ref() gives it: with `--defer`, the table of the state that stands in for it, as dbt chooses it. What stands below
   a deferred view is deferred, too. Nothing is known of the columns that the state's contract guards. #}
{% macro tidemark__as_read(node, is_below_deferred=false) %}
    {% set other = node.get('defer_relation') if adapter.defers() else none %}
    {% if not other or other.schema == node.schema and other.alias == node.alias
        or not is_below_deferred and not dbt.tidemark__is_deferred(node) %}
        {{ return(node) }}
    {% endif %}
    {{ return(dict(node, schema=other.schema, alias=other.alias, config=other.config, columns={}, is_deferred=true)) }}
{% endmacro %}

{# The ids of the nodes whose tables of the state a node reads directly. #}
{% macro tidemark__deferred_below(node) %}
    {{ return(dbt.tidemark__dependencies(node) | selectattr('is_deferred', 'defined') | map(attribute='unique_id') | list) }}
{% endmacro %}

{% macro tidemark__is_deferred(node) %}
    {% if adapter.defers(to_unselected=true) and node.unique_id not in selected_resources %}
        {{ return(true) }}
    {% endif %}
    {{ return(adapter.get_relation(node.database, node.schema, node.alias) is none) }}
{% endmacro %}
