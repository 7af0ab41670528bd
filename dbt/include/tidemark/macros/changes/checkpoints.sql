{# The current checkpoint of a reader (a table's name or a test's id) on a source, or none. #}
{% macro tidemark__checkpoint(reader, source) %}
    {{ return(dbt.tidemark__checkpoints().of(reader if reader is string else dbt.tidemark__table_name(reader), source)) }}
{% endmacro %}

{# All checkpoints, read once per command: tidemark/engine/checkpoints. #}
{% macro tidemark__checkpoints() %}
    {% set state = dbt.tidemark__run_state('checkpoints') %}
    {% if 'newest' not in state %}
        {% do state.update(newest=adapter.read_checkpoints(dbt.tidemark__ops_table('runs'))) %}
    {% endif %}
    {{ return(state.newest) }}
{% endmacro %}

{# The new checkpoints: of the models that succeeded and read something, and of the tests that passed. #}
{% macro tidemark__moved_checkpoints(results) %}
    {% set moved = [] %}
    {% for result in results if result.status in ('success', 'pass') and result.node.resource_type in ('model', 'test')
        and result.node.unique_id not in dbt.tidemark__run_state('let_pass') %}
        {% set node = result.node %}
        {% set relation = dbt.tidemark__relation_of(node) %}
        {% set reader = dbt.tidemark__table_name(relation) if node.resource_type == 'model' else node.unique_id %}
        {% set contract = dbt.tidemark__contract_of(node.unique_id) %}
        {% for window in dbt.tidemark__windows_of(node.unique_id) %}
            {% do moved.append(dbt.tidemark__checkpoints().moved(
                reader, window, contract, dbt.tidemark__table_after(node, relation, dbt.tidemark__checkpoint(reader, window.source)),
                keeps_contract=node.unique_id in dbt.tidemark__run_state('partly')
            )) %}
        {% endfor %}
        {% do moved.extend(adapter.stage_checkpoints(dbt.tidemark__run_state('stages').get(node.unique_id, []), dbt.tidemark__checkpoints())) %}
    {% endfor %}
    {{ return(moved | reject('none') | list) }}
{% endmacro %}

{# The id and version of the model's table to store with its checkpoints: what this run wrote or saw, else the previous values. #}
{% macro tidemark__table_after(node, relation, checkpoint) %}
    {% set written = dbt.tidemark__run_state('written').get(node.unique_id, {}).get('version') %}
    {% set seen = adapter.table_state(relation) if written is not none else adapter.known_state(relation) %}
    {% set before = {'id': checkpoint.table_id, 'version': checkpoint.table_version} if checkpoint else {'id': none, 'version': none} %}
    {% if not seen or node.unique_id in dbt.tidemark__run_state('doubted') %}
        {{ return(before) }}
    {% endif %}
    {{ return({'id': seen.id or before.id, 'version': seen.version if written is none else written}) }}
{% endmacro %}
