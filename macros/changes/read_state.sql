{# The one place that decides how this model reads, for all its sources at once: a model that must read one of
   them whole reads all of them whole. #}
{% macro read_state() %}
    {% set states = tidemark.run_state('read_states') %}
    {% if model.unique_id not in states %}
        {% do states.update({model.unique_id: tidemark.decide_read_state()}) %}
        {% if states[model.unique_id].state in tidemark.states_of_doubt() %}
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
    {% set news = [] %}
    {% for node in tidemark.dependencies(model) %}
        {% set source = api.Relation.create(schema=node.schema, identifier=node.get('alias') or node.identifier) %}
        {% set mark = tidemark.checkpoint(this, tidemark.table_name(source)) %}
        {% if mark %}
            {% do marks.append(mark) %}
            {% set lost = none if mark.version is none else tidemark.lost_join(source, mark) if tidemark.is_of_join(mark)
                else tidemark.lost_history(source, mark, tidemark.table_state(source), node.resource_type == 'source') %}
            {% if lost %}
                {{ return({'state': 'history lost', 'why': lost}) }}
            {% elif mark.version is none or mark.version != tidemark.table_state(source).version %}
                {% do news.append(source) %}
            {% endif %}
        {% endif %}
    {% endfor %}
    {% if not marks %}
        {{ return({'state': 'first run', 'why': 'first run: no checkpoint yet'}) }}
    {% endif %}
    {% set contract = tidemark.contract_of(model.unique_id) %}
    {% if marks[0].contract != contract %}
        {% set added = tidemark.added_columns(this) %}
        {% if added %}
            {{ return({'state': 'columns added', 'why': 'new in its contract: ' ~ added | join(', ')}) }}
        {% elif '.' in (marks[0].contract or '') and marks[0].contract.split('.')[1] != contract.split('.')[1] %}
            {{ return({'state': 'grain changed', 'why': 'another unique_key, newest_by, insert_only or prune_by'}) }}
        {% endif %}
    {% endif %}
    {% set lost = tidemark.lost_table() if news else none %}
    {% if lost %}
        {{ return({'state': 'history lost', 'why': lost}) }}
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
