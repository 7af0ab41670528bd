{# The state of a model whose contract, grain or code changed since its last run, so that its table is rebuilt; or none. #}
{% macro redeclared_state(before) %}
    {% set contract = dbt.contract_of(model.unique_id) %}
    {% if before == contract %}
        {{ return(none) }}
    {% endif %}
    {% set added = dbt.added_columns(this) %}
    {% if added %}
        {{ return({'state': 'columns added', 'why': 'new in its contract: ' ~ added | join(', ')}) }}
    {% elif '.' in (before or '') and before.split('.')[1] != contract.split('.')[1] %}
        {{ return({'state': 'grain changed', 'why': 'another unique_key, newest_by, insert_only or prune_by'}) }}
    {% endif %}
    {% set changed = dbt.changed_code(before, contract) %}
    {% set choice = dbt.on_code_change(changed) if changed else 'ignore' %}
    {% if choice != 'ignore' %}
        {{ return({'state': 'code changed', 'why': changed ~ (', where the run stops' if choice == 'stop' else '')}) }}
    {% endif %}
    {{ return(none) }}
{% endmacro %}

{# What to do if the model's code has changed: rebuild, ignore or stop. This macro itself stops the model. #}
{% macro on_code_change(changed) %}
    {% set choice = config.get('meta', {}).get('on_code_change', 'rebuild') %}
    {% if choice not in ('rebuild', 'stop', 'ignore') %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ': on_code_change is ' ~ choice ~ '. Set it to rebuild, stop or ignore.'
        ) %}
    {% elif choice == 'stop' and var('tidemark_purpose', '') != 'explain' %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ': ' ~ changed ~ ' since the table was built, so old and new rows would be mixed '
            ~ '(on_code_change: stop). Rebuild it: `dbt run --full-refresh --select ' ~ this.identifier ~ '`.'
        ) %}
    {% endif %}
    {{ return(choice) }}
{% endmacro %}
