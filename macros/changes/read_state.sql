{# The one place that decides how this model reads, for all its sources at once: a model that must read one of
   them whole reads all of them whole. #}
{% macro read_state() %}
    {% set states = tidemark.run_state('read_states') %}
    {% if model.unique_id not in states %}
        {% do states.update({model.unique_id: tidemark.decide_read_state()}) %}
        {% if states[model.unique_id].state in ('history lost', 'columns added') %}
            {% do log(tidemark.table_name(this) ~ ' reads its sources whole: ' ~ states[model.unique_id].why, info=True) %}
        {% endif %}
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
    {% set marks = [] %}
    {% for node in tidemark.dependencies(model) %}
        {% set source = api.Relation.create(schema=node.schema, identifier=node.get('alias') or node.identifier) %}
        {% set mark = tidemark.checkpoint(this, tidemark.table_name(source)) %}
        {% if mark %}
            {% do marks.append(mark) %}
            {% if mark.version is not none %}
                {% set lost = tidemark.lost_history(source, mark, tidemark.table_state(source), node.resource_type == 'source') %}
                {% if lost %}
                    {{ return({'state': 'history lost', 'why': lost}) }}
                {% endif %}
            {% endif %}
        {% endif %}
    {% endfor %}
    {% if not marks %}
        {{ return({'state': 'first run', 'why': 'first run: no checkpoint yet'}) }}
    {% endif %}
    {% if marks[0].contract != tidemark.contract_of(model.unique_id) %}
        {% set added = tidemark.added_columns(this) %}
        {% if added %}
            {{ return({'state': 'columns added', 'why': 'new in its contract: ' ~ added | join(', ')}) }}
        {% endif %}
    {% endif %}
    {{ return({'state': 'incremental', 'why': 'incremental'}) }}
{% endmacro %}

{% macro dependencies(node) %}
    {% set found = [] %}
    {% for unique_id in node.depends_on.nodes if unique_id.split('.')[0] in ('source', 'model', 'seed', 'snapshot') %}
        {% do found.append(graph.sources.get(unique_id) or graph.nodes.get(unique_id)) %}
    {% endfor %}
    {{ return(found) }}
{% endmacro %}
