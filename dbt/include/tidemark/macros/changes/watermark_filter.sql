{% macro watermark_filter(source, column, lookback=none) %}
    {% if not execute or dbt.tidemark__is_limited() or dbt.tidemark__is_given(source) %}
        {{ return('true') }}
    {% endif %}
    {% do dbt.tidemark__refuse_in_views('watermark_filter()') %}
    {% set window = dbt.tidemark__watermark_window(source, column, lookback) %}
    {% set name = dbt.tidemark__quoted(column) %}
    {% set bounds = [] %}
    {% if window.state == 'incremental' and window.low is not none %}
        {% set low = dbt.tidemark__typed_literal(window.low, window.type) %}
        {# >= : rows that tie with the checkpoint may have come after it was taken #}
        {% do bounds.append(name ~ ' >= ' ~ low ~ ('' if not lookback else ' - ' ~ lookback if lookback is number else ' - interval ' ~ lookback)) %}
    {% endif %}
    {% if window.watermark is not none %}
        {% do bounds.append(name ~ ' <= ' ~ dbt.tidemark__typed_literal(window.watermark, window.type)) %}
    {% endif %}
    {{ return('(' ~ name ~ ' is null or ' ~ (bounds | join(' and ') or 'false') ~ ')' ~ dbt.tidemark__note_of_source(window)) }}
{% endmacro %}

{# From the stored watermark to the current maximum, where the next run starts. It never moves back. #}
{% macro tidemark__watermark_window(relation, column, lookback) %}
    {% set windows = dbt.tidemark__run_state('windows').setdefault(model.unique_id, {}) %}
    {% set source = dbt.tidemark__table_name(relation) %}
    {% if source in windows and windows[source].watermark_column != column %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ' reads ' ~ source ~ ' by two columns, but a watermark is one column. Combine both in a column of a view.'
        ) %}
    {% elif source in windows %}
        {{ return(windows[source]) }}
    {% endif %}
    {% set how = dbt.tidemark__read_state() %}
    {% set window = adapter.decide().windows.watermark_window(source, column, how, dbt.tidemark__checkpoint(this, source)) %}
    {% if window is none %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ' reads ' ~ source ~ ' by ' ~ column ~ ' for the first time. Rebuild it: '
            ~ '`dbt run --full-refresh --select ' ~ this.identifier ~ '`.'
        ) %}
    {% endif %}
    {% do windows.update({source: adapter.decide().windows.up_to(window, how, dbt.tidemark__highest(relation, column, window.low), lookback)}) %}
    {% do log(dbt.tidemark__table_name(this) ~ ' reads ' ~ source ~ ' ' ~ windows[source].message) %}
    {{ return(windows[source]) }}
{% endmacro %}

{# The maximum of a column, but not below the stored watermark. #}
{% macro tidemark__highest(relation, column, previous) %}
    {% set name = dbt.tidemark__quoted(column) %}
    {% set found = run_query(
        'select cast(max(' ~ name ~ ') as string) as value, typeof(max(' ~ name ~ ')) as type from ' ~ relation
    ).rows[0] %}
    {% if previous is none or found['value'] is none or dbt.tidemark__read_state().state in ('verify', 'rebuild', 'as of') %}
        {{ return({'value': previous if previous is not none else found['value'], 'type': found['type']}) }}
    {% endif %}
    {% set later = run_query(
        'select ' ~ dbt.tidemark__typed_literal(found['value'], found['type']) ~ ' > ' ~ dbt.tidemark__typed_literal(previous, found['type']) ~ ' as is_later'
    ).rows[0]['is_later'] %}
    {{ return({'value': found['value'] if later else previous, 'type': found['type']}) }}
{% endmacro %}
