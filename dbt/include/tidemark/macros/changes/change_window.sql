{# What this model reads of one source: the versions after `after` up to `last`. `message` describes them as text. #}
{% macro change_window(relation) %}
    {% set windows = dbt.run_state('windows').setdefault(model.unique_id, {}) %}
    {% set source = dbt.table_name(relation) %}
    {% if source in windows %}
        {{ return(windows[source]) }}
    {% endif %}
    {% set past = dbt.past_version(relation) %}
    {% if past is not none %}
        {% do windows.update({source: {
            'source': source, 'state': 'as of', 'after': none, 'last': past, 'message': 'as of version ' ~ past
        }}) %}
        {{ return(windows[source]) }}
    {% endif %}
    {% set how = dbt.read_state() %}
    {% set now = dbt.table_state(relation) %}
    {% set checkpoint = dbt.checkpoint(this, source) %}
    {% set window = {'source': source, 'kind': 'changes', 'source_id': now.id, 'state': how.state, 'after': none, 'last': now.version} %}
    {% if how.state in ('verify', 'rebuild') %}
        {% set version = checkpoint.version if checkpoint and checkpoint.source_id == now.id and dbt.age_of(now, checkpoint.version) is not none else none %}
        {% do window.update(
            last=now.version if version is none else version,
            message='as of version ' ~ (now.version if version is none else version),
            unproven='never read' if not checkpoint else 'another table' if version is none else none
        ) %}
    {% elif how.state != 'incremental' %}
        {% do window.update(message='as of version ' ~ now.version ~ ' (' ~ how.why ~ ')') %}
    {% elif not checkpoint %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ' reads ' ~ source ~ ' for the first time. Rebuild it: `dbt run --full-refresh --select '
            ~ this.identifier ~ '`.'
        ) %}
    {% elif checkpoint.version == now.version %}
        {% do window.update(state='nothing new', message='after version ' ~ now.version ~ ': nothing new') %}
    {% else %}
        {% do window.update(after=checkpoint.version, message=dbt.version_range(checkpoint.version, now.version)) %}
    {% endif %}
    {% do windows.update({source: window}) %}
    {% do log(dbt.table_name(this) ~ ' reads ' ~ source ~ ' ' ~ window.message) %}
    {{ return(window) }}
{% endmacro %}

{# `versions 12..15` if version numbers are consecutive, else `versions after 5619 up to 5620`. #}
{% macro version_range(after, last) %}
    {{ return(
        'versions ' ~ (after + 1) ~ '..' ~ last if dbt.table_format() == 'delta' else 'versions after ' ~ after ~ ' up to ' ~ last
    ) }}
{% endmacro %}
