{# The tests that an audit runs: those of the model that can stop a run, and that need no table which this command builds later. #}
{% macro tidemark__audited_tests() %}
    {% set found = [] %}
    {% set earlier = dbt.tidemark__ancestors(model) %}
    {% for test in graph.nodes.values() | sort(attribute='unique_id')
        if test.resource_type == 'test' and model.unique_id in test.depends_on.nodes and test.config.severity | lower == 'error' %}
        {% set attached = test.get('attached_node') %}
        {% set later = [] %}
        {% for other in test.depends_on.nodes if other not in earlier and other != model.unique_id %}
            {% if not attached or other in selected_resources %}
                {% do later.append(other) %}
            {% endif %}
        {% endfor %}
        {% if attached in (none, model.unique_id) and not dbt.tidemark__is_enforced_by_merge(test) %}
            {% if later %}
                {% do log(this.identifier ~ ': not in the audit: ' ~ test.name ~ ', because it reads ' ~ later | join(', ')) %}
            {% else %}
                {% do found.append(test) %}
            {% endif %}
        {% endif %}
    {% endfor %}
    {{ return(found) }}
{% endmacro %}

{# The ids of everything that a node reads, directly and through other nodes. #}
{% macro tidemark__ancestors(node) %}
    {% set found = {} %}
    {% set open = [node] %}
    {% for reader in open %}  {# grows while it is read #}
        {% for below in dbt.tidemark__dependencies(reader) if below.unique_id not in found %}
            {% do found.update({below.unique_id: true}) %}
            {% if below.resource_type != 'source' %}
                {% do open.append(below) %}
            {% endif %}
        {% endfor %}
    {% endfor %}
    {{ return(found) }}
{% endmacro %}

{# True for a test of the grain: a table is written once a key. Partitions are replaced one by one, and another one may have the key. #}
{% macro tidemark__is_enforced_by_merge(test) %}
    {% if not test.test_metadata or test.test_metadata.name not in ('unique', 'unique_key') or not dbt.tidemark__is_built_in(test) %}
        {{ return(false) }}
    {% endif %}
    {% set replaced = dbt.tidemark__as_list(config.get('partition_by')) if config.get('incremental_strategy') == 'insert_overwrite' else [] %}
    {{ return(replaced | reject('in', dbt.tidemark__as_list(config.get('unique_key'))) | list == [] and dbt.tidemark__covers_the_key(test, config)) }}
{% endmacro %}
