{# The state of a model whose contract, grain or code changed since its last run, so that its table is rebuilt; or none. #}
{% macro redeclared_state(before) %}
    {% set contract = dbt.contract_of(model.unique_id) %}
    {% if before == contract %}
        {{ return(none) }}
    {% endif %}
    {% set added = dbt.added_columns(this) %}
    {% if added %}
        {{ return({'state': 'columns added', 'why': 'new in its contract: ' ~ added | join(', ')}) }}
    {% elif before.has_other_grain(contract) %}
        {{ return({'state': 'grain changed', 'why': 'another unique_key, newest_by, insert_only or prune_by'}) }}
    {% endif %}
    {% set code = before.changed_code(contract) %}
    {% set changed = code ~ ' has changed' if code else none %}
    {% set choice = dbt.on_code_change(changed) if changed else 'ignore' %}
    {% if choice != 'ignore' %}
        {{ return({'state': 'code changed', 'why': changed ~ (', where the run stops' if choice == 'stop' else '')}) }}
    {% endif %}
    {{ return(none) }}
{% endmacro %}

{# What to do if the model's code has changed: rebuild, ignore or stop. This macro itself stops the model. Without a setting, a
   rebuild that reads more than `meta.max_rebuild_bytes` stops, too. #}
{% macro on_code_change(changed) %}
    {% set settings = config.get('meta', {}) %}
    {% set choice = settings.get('on_code_change') %}
    {% set bytes = dbt.source_bytes().values() | sum %}
    {% if choice not in (none, 'rebuild', 'stop', 'ignore') %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ': on_code_change is ' ~ choice ~ '. Set it to rebuild, stop or ignore.'
        ) %}
    {% endif %}
    {% set is_large = choice is none and bytes > settings.get('max_rebuild_bytes', 100 * 1024 ** 3) %}
    {% set choice = 'stop' if is_large else choice or 'rebuild' %}
    {% if choice == 'stop' and var('tidemark_purpose', '') != 'explain' %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ': ' ~ changed ~ ' since the table was built, so old and new rows would be mixed. A rebuild reads '
            ~ dbt.megabytes(bytes) ~ (', more than max_rebuild_bytes' if is_large else ' (on_code_change: stop)')
            ~ '. Rebuild it: `dbt run --full-refresh --select ' ~ this.identifier ~ '`.'
        ) %}
    {% endif %}
    {{ return(choice) }}
{% endmacro %}

{# The size of each table with versions that a rebuild of this model reads, by name in lower case. #}
{% macro source_bytes() %}
    {% set sizes = {} %}
    {% for node in dbt.tables_below(model) if not dbt.is_view(node) %}
        {% set source = dbt.relation_of(node) %}
        {% if dbt.has_versions(source) %}
            {% do sizes.update({dbt.table_name(source) | lower: dbt.table_state(source).get('bytes') or 0}) %}
        {% endif %}
    {% endfor %}
    {{ return(sizes) }}
{% endmacro %}

{% macro megabytes(bytes) %}
    {{ return('{:,.1f} MB'.format(bytes / 1000000)) }}
{% endmacro %}
