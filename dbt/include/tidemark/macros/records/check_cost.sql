{# Measures what this model's statements read, if it declares `meta.max_bytes_per_changed_row`. #}
{% macro tidemark__measure_cost() %}
    {% if config.get('meta', {}).get('max_bytes_per_changed_row') and adapter.is_embedded() %}
        {% do adapter.measure_reads(model.unique_id) %}
    {% endif %}
{% endmacro %}

{# Compares it with the limit, before an increment is written: a warning, or with `meta.on_cost: stop` an error. A query that is
   computed in full because of a change is compared, too. #}
{% macro tidemark__check_cost() %}
    {% set settings = config.get('meta', {}) %}
    {% set limit = settings.get('max_bytes_per_changed_row') %}
    {% set rows = dbt.tidemark__changed_source_rows() if limit and adapter.is_embedded() else none %}
    {% if rows is none %}
        {{ return('') }}
    {% endif %}
    {% set choice = settings.get('on_cost', 'warn') %}
    {% if choice not in ('warn', 'stop') %}
        {% do exceptions.raise_compiler_error(this.identifier ~ ': on_cost is ' ~ choice ~ '. Set it to warn or stop.') %}
    {% endif %}
    {% set bytes = adapter.bytes_read(model.unique_id) %}
    {% if bytes > limit * [rows, 1] | max %}
        {% set message = this.identifier ~ ' read ' ~ bytes ~ ' bytes for ' ~ rows ~ ' changed rows: more than '
            ~ limit ~ ' bytes a row (max_bytes_per_changed_row)' %}
        {% if choice == 'stop' %}
            {% do exceptions.raise_compiler_error(
                message ~ '. Nothing was written. `tidemark explain ' ~ this.identifier ~ '` shows what it reads. Raise the limit, or run with --full-refresh.'
            ) %}
        {% endif %}
        {% do exceptions.warn(message) %}
    {% endif %}
{% endmacro %}

{# The number of rows of the model's sources that changed since its last run; none if the run reads them whole for another reason. #}
{% macro tidemark__changed_source_rows() %}
    {% set how = dbt.tidemark__read_state() %}
    {% set changed = namespace(rows=none) %}
    {% for window in dbt.tidemark__windows_of(model.unique_id) if window.last is not none %}
        {% set checkpoint = dbt.tidemark__checkpoint(this, window.source) %}
        {% if window.state == 'incremental' or checkpoint and how.state == 'full' and not how.is_whole and window.source in how.changed %}
            {% set read = {'state': 'incremental', 'after': checkpoint.version, 'last': window.last} %}
            {% set changed.rows = (changed.rows or 0) + (dbt.tidemark__read_metrics(dbt.tidemark__relation_named(window.source), read).rows or 0) %}
        {% endif %}
    {% endfor %}
    {{ return(changed.rows) }}
{% endmacro %}
