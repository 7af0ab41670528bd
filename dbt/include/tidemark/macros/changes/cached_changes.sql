{# The changes of a window as a view that Spark computes once for the models and tests of this command. None if there is only
   one reader, if there are too many rows, or for commands whose SQL is for people to read. #}
{% macro tidemark__cached_changes(relation, window) %}
    {% if flags.WHICH not in ('build', 'run', 'test') or not adapter.has_one_session()
        or dbt.tidemark__readers_of(window.source) < 2 or dbt.tidemark__read_metrics(relation, window).rows > 1000000 %}
        {{ return(none) }}
    {% endif %}
    {% set name = ['tidemark_changes', window.source | replace('.', '_'), window.after, window.last, invocation_id[:8]] | join('_') %}
    {{ return(adapter.cache_once(
        dbt.tidemark__run_state('cached_views'), name, dbt.tidemark__by_format('change_rows')(relation, window, '', false)
    )) }}
{% endmacro %}

{# The number of models and tests of this command that read a table, also through ephemeral models, but not through views. #}
{% macro tidemark__readers_of(table) %}
    {% set state = dbt.tidemark__run_state('readers') %}
    {% if 'counts' not in state %}
        {% set counts = {} %}
        {% for node in graph.nodes.values() if node.unique_id in selected_resources and node.resource_type in ('model', 'test')
            and node.config.materialized != 'ephemeral' %}
            {% for below in (dbt.tidemark__read_by(node) if node.resource_type == 'model' else dbt.tidemark__dependencies(node)) %}
                {% set name = dbt.tidemark__table_name(dbt.tidemark__relation_of(below)) %}
                {% do counts.update({name: counts.get(name, 0) + 1}) %}
            {% endfor %}
        {% endfor %}
        {% do state.update(counts=counts) %}
    {% endif %}
    {{ return(state.counts.get(table, 0)) }}
{% endmacro %}
