{# The id of the table that a generic test is declared for. dbt does not give it for sources. #}
{% macro tidemark__tested_node(test) %}
    {{ return(test.get('attached_node') or test.depends_on.nodes | first) }}
{% endmacro %}

{# The windows of a test, without their text. #}
{% macro tidemark__windows_seen_by(test) %}
    {% set seen = [] %}
    {% for relation, version in dbt.tidemark__tables_seen_by(test) %}
        {% set window = dbt.tidemark__tested_window(relation, version, test) %}
        {% do seen.append([window.state, window.after, window.last]) %}
    {% endfor %}
    {{ return(seen) }}
{% endmacro %}

{# The test's own table, then the table that it is compared with, up to the version that its own table has read. #}
{% macro tidemark__tables_seen_by(test) %}
    {% set own_id = dbt.tidemark__tested_node(test) %}
    {% set own = dbt.tidemark__relation_of(graph.sources.get(own_id) or dbt.tidemark__as_read(graph.nodes.get(own_id))) %}
    {% set tables = [[own, none]] %}
    {% for node in dbt.tidemark__dependencies(test) if node.unique_id != own_id %}
        {% set other = dbt.tidemark__relation_of(node) %}
        {% do tables.append([other, dbt.tidemark__consumed_version(other, own)]) %}
    {% endfor %}
    {{ return(tables) }}
{% endmacro %}
