{# Fingerprints stored with the checkpoints: of a model's columns, constraints and descriptions, its grain and its code; of a
   test's settings and its code. #}
{% macro tidemark__contract_of(unique_id) %}
    {% set known = dbt.tidemark__run_state('contracts') %}
    {% if unique_id not in known %}
        {% do known.update({unique_id: dbt.tidemark__declared_contract(unique_id)}) %}
    {% endif %}
    {{ return(known[unique_id]) }}
{% endmacro %}

{% macro tidemark__declared_contract(unique_id) %}
    {% set node = graph.nodes[unique_id] %}
    {% set code = dbt.tidemark__code_of(unique_id) %}
    {% set of_code = {'code': code.sql, 'macros': code.macros, 'variables': dbt.tidemark__variables_fingerprint(code)} %}
    {% set parts = [] %}
    {% if node.resource_type == 'test' %}
        {% do parts.append(node.checksum.checksum if node.checksum else '') %}
        {% for setting in ('where', 'warn_if', 'error_if', 'fail_calc', 'limit') %}
            {% do parts.append(node.config.get(setting) | string) %}
        {% endfor %}
        {{ return(adapter.contract(contract=local_md5(parts | string), **of_code)) }}
    {% endif %}
    {% for column in node.columns.values() %}
        {% do parts.append([column.name, column.data_type, column.constraints | string, column.description]) %}
    {% endfor %}
    {% do parts.append([node.constraints | string, node.description]) %}
    {% set grain = [dbt.tidemark__as_list(node.config.get('unique_key'))] %}
    {% for setting in ('newest_by', 'insert_only', 'prune_by') %}
        {% do grain.append(node.config.get('meta', {}).get(setting)) %}
    {% endfor %}
    {{ return(adapter.contract(contract=local_md5(parts | string), grain=local_md5(grain | string), **of_code)) }}
{% endmacro %}

{# True if the contract has changed since the model's last run. #}
{% macro tidemark__is_redeclared() %}
    {% for window in dbt.tidemark__windows_of(model.unique_id) %}
        {% if dbt.tidemark__checkpoint(this, window.source).contract != dbt.tidemark__contract_of(model.unique_id) %}
            {{ return(true) }}
        {% endif %}
    {% endfor %}
    {{ return(false) }}
{% endmacro %}
