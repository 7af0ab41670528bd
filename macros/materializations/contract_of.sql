{# A fingerprint of the columns, constraints and descriptions that a model declares, or of a test's text: kept with its marks. #}
{% macro contract_of(unique_id) %}
    {% set node = graph.nodes[unique_id] %}
    {% set parts = [] %}
    {% if node.resource_type == 'test' %}
        {% do parts.append(node.checksum.checksum if node.checksum else '') %}
    {% else %}
        {% for column in node.columns.values() %}
            {% do parts.append([column.name, column.data_type, column.constraints | string, column.description]) %}
        {% endfor %}
        {% do parts.append([node.constraints | string, node.description]) %}
    {% endif %}
    {{ return(local_md5(parts | string)) }}
{% endmacro %}

{# Declared columns that the table does not have yet, where `on_schema_change` lets them appear. #}
{% macro added_columns(relation) %}
    {% if not config.get('contract').enforced or config.get('on_schema_change') != 'append_new_columns' %}
        {{ return([]) }}
    {% endif %}
    {% set present = adapter.get_columns_in_relation(relation) | map(attribute='name') | list %}
    {{ return(model.columns.keys() | reject('in', present) | list) }}
{% endmacro %}

{# True when the contract is another than at the model's last run. #}
{% macro is_redeclared() %}
    {% for window in tidemark.run_state('windows').get(model.unique_id, {}).values() %}
        {% if tidemark.checkpoint(this, window.source).contract != tidemark.contract_of(model.unique_id) %}
            {{ return(true) }}
        {% endif %}
    {% endfor %}
    {{ return(false) }}
{% endmacro %}
