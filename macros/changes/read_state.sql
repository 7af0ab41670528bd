{# The one place that decides how this model reads, for all its sources at once: a model that must read one of
   them whole reads all of them whole, and its table is replaced. #}
{% macro read_state() %}
    {% set states = tidemark.run_state('read_states') %}
    {% if model.unique_id not in states %}
        {% do states.update({model.unique_id: tidemark.decide_read_state()}) %}
    {% endif %}
    {{ return(states[model.unique_id]) }}
{% endmacro %}

{% macro decide_read_state() %}
    {% if env_var('TIDEMARK_PURPOSE', '') == 'verify' %}
        {{ return({'state': 'verify', 'why': 'as consumed'}) }}
    {% elif should_full_refresh() %}
        {{ return({'state': 'full refresh', 'why': 'full refresh'}) }}
    {% elif not is_incremental() %}
        {{ return({'state': 'first run', 'why': 'first run: no table yet'}) }}
    {% endif %}
    {% set marked = [] %}
    {% for node in tidemark.dependencies(model) %}
        {% set source = api.Relation.create(schema=node.schema, identifier=node.get('alias') or node.identifier) %}
        {% set mark = tidemark.checkpoint(this, tidemark.table_name(source)) %}
        {% if mark %}
            {% do marked.append(source) %}
            {% set now = tidemark.table_state(source) %}
            {% if mark.source_id != now.id or mark.version > now.version %}
                {{ return({
                    'state': 'history lost',
                    'why': tidemark.table_name(source) ~ ' was replaced after version ' ~ mark.version ~ ' was read'
                }) }}
            {% endif %}
            {% set rewrite = tidemark.rewritten_since(source, mark.version, now.version) if node.resource_type == 'source' %}
            {% if rewrite %}
                {{ return({
                    'state': 'history lost',
                    'why': tidemark.table_name(source) ~ ' is append-only, but had a ' ~ rewrite ~ ' after version ' ~ mark.version
                }) }}
            {% endif %}
        {% endif %}
    {% endfor %}
    {% if not marked %}
        {{ return({'state': 'first run', 'why': 'first run: no checkpoint yet'}) }}
    {% endif %}
    {{ return({'state': 'incremental', 'why': 'incremental'}) }}
{% endmacro %}

{# The first operation after a version that took landed rows away or changed them, or none. #}
{% macro rewritten_since(relation, version, last) %}
    {% if last > version %}
        {% for row in run_query('describe history ' ~ relation ~ ' limit ' ~ (last - version))
            if row['operation'] in ('DELETE', 'UPDATE', 'MERGE', 'RESTORE', 'TRUNCATE') %}
            {{ return(row['operation'] ~ ' (version ' ~ row['version'] ~ ')') }}
        {% endfor %}
    {% endif %}
    {{ return(none) }}
{% endmacro %}

{% macro dependencies(node) %}
    {% set found = [] %}
    {% for unique_id in node.depends_on.nodes %}
        {% do found.append(graph.sources.get(unique_id) or graph.nodes.get(unique_id)) %}
    {% endfor %}
    {{ return(found) }}
{% endmacro %}
