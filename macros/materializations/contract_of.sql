{# A fingerprint kept with the marks. A model's: its columns, constraints and descriptions, and after a dot what decides
   about its rows. A test's: its text and settings. #}
{% macro contract_of(unique_id) %}
    {% set node = graph.nodes[unique_id] %}
    {% set parts = [] %}
    {% if node.resource_type == 'test' %}
        {% do parts.append(node.checksum.checksum if node.checksum else '') %}
        {% for setting in ('where', 'warn_if', 'error_if', 'fail_calc', 'limit') %}
            {% do parts.append(node.config.get(setting) | string) %}
        {% endfor %}
        {{ return(local_md5(parts | string)) }}
    {% endif %}
    {% for column in node.columns.values() %}
        {% do parts.append([column.name, column.data_type, column.constraints | string, column.description]) %}
    {% endfor %}
    {% do parts.append([node.constraints | string, node.description]) %}
    {% set grain = [tidemark.as_list(node.config.get('unique_key'))] %}
    {% for setting in ('newest_by', 'insert_only', 'prune_by') %}
        {% do grain.append(node.config.get('meta', {}).get(setting)) %}
    {% endfor %}
    {{ return(local_md5(parts | string) ~ '.' ~ local_md5(grain | string)) }}
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
    {% for window in tidemark.windows_of(model.unique_id) %}
        {% if tidemark.checkpoint(this, window.source).contract != tidemark.contract_of(model.unique_id) %}
            {{ return(true) }}
        {% endif %}
    {% endfor %}
    {{ return(false) }}
{% endmacro %}
