{# What this model reads of one source: `first`..`last` are versions, `said` tells them in words. #}
{% macro change_window(relation) %}
    {% set windows = tidemark.run_state('windows').setdefault(model.unique_id, {}) %}
    {% set source = tidemark.table_name(relation) %}
    {% if source in windows %}
        {{ return(windows[source]) }}
    {% endif %}
    {% set how = tidemark.read_state() %}
    {% set now = tidemark.table_state(relation) %}
    {% set mark = tidemark.checkpoint(this, source) %}
    {% set window = {'source': source, 'source_id': now.id, 'state': how.state, 'first': 0, 'last': now.version} %}
    {% if how.state == 'verify' %}
        {% set version = mark.version if mark and mark.source_id == now.id else none %}
        {% do window.update(
            last=now.version if version is none else version,
            said='never' if not mark else 'another table' if version is none else 'as of version ' ~ version
        ) %}
    {% elif how.state != 'incremental' %}
        {% do window.update(said='as of version ' ~ now.version ~ ' (' ~ how.why ~ ')') %}
    {% elif not mark %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ' reads ' ~ source ~ ' for the first time. Rebuild it: `dbt run --full-refresh --select '
            ~ this.identifier ~ '`.'
        ) %}
    {% elif mark.version == now.version %}
        {% do window.update(state='nothing new', said='after version ' ~ now.version ~ ': nothing new') %}
    {% else %}
        {% do window.update(first=mark.version + 1, said='versions ' ~ (mark.version + 1) ~ '..' ~ now.version) %}
    {% endif %}
    {% do windows.update({source: window}) %}
    {% do log(tidemark.table_name(this) ~ ' reads ' ~ source ~ ' ' ~ window.said) %}
    {{ return(window) }}
{% endmacro %}
