{# The comments of a compiled model that say with which variables its table was built, and of a plain one, what it reads, as
   changes() and watermark_filter() write them. explain and verify ask for them at the end of the model's SQL. #}
{% macro plain_reads() %}
    {% if not execute %}{{ return('') }}{% endif %}
    {% set newest = dbt.newest_checkpoint() %}
    {% set built = dbt.note({
        'built_with': newest.contract.variables if newest else none, 'compiled_with': dbt.contract_of(model.unique_id).variables
    }) %}
    {{ return(built ~ (dbt.notes_of_plain_reads() if dbt.is_plain(model) else '')) }}
{% endmacro %}

{% macro notes_of_plain_reads() %}
    {% set how = dbt.read_state() %}
    {% set notes = [] %}
    {% for node in dbt.tables_below(model) if not dbt.is_view(node) %}
        {% set window = dbt.plain_window(dbt.relation_of(node), how) %}
        {% do notes.append(dbt.note_of_source(window)) %}
        {% if how.state == 'verify' and window.get('last') is not none %}
            {% do notes.append(dbt.note({'pins': window.source, 'as_of': dbt.as_of(dbt.relation_of(node), window.last)})) %}
        {% endif %}
    {% endfor %}
    {% if how.state == 'full' and not how.is_whole %}
        {% do notes.append(dbt.note({'plan': dbt.plan_request({}, how.changed)})) %}
    {% endif %}
    {{ return(notes | join(' ')) }}
{% endmacro %}

{# What a plain model would read of one table. #}
{% macro plain_window(source, how) %}
    {% set name = dbt.table_name(source) %}
    {% set now = dbt.table_state(source) if dbt.has_versions(source) else {} %}
    {% set checkpoint = dbt.checkpoint(this, name) %}
    {% set window = {'source': name, 'state': how.state, 'after': none, 'last': now.get('version')} %}
    {% if how.state == 'verify' %}
        {% set is_lost = now and checkpoint and (
            dbt.lost_version(source, checkpoint) if source in dbt.own_relations() else dbt.lost_join(source, checkpoint)
        ) %}
        {% set last = checkpoint.version if now and checkpoint and not is_lost else now.get('version') %}
        {{ return(dict(
            window, last=last, message='as of version ' ~ last if now else 'as it is: it has no versions',
            unproven=none if not now else 'never read' if not checkpoint else 'changed' if is_lost else none
        )) }}
    {% elif how.state == 'incremental' or how.state == 'full' and not how.is_whole and name not in how.changed %}
        {{ return(dict(window, state='nothing new', message='after version ' ~ now.version ~ ': nothing new')) }}
    {% elif how.state == 'full' and not how.is_whole %}
        {{ return(dict(window, state='incremental', after=checkpoint.version, message=dbt.version_range(checkpoint.version, now.version))) }}
    {% endif %}
    {{ return(dict(window, message=('as of version ' ~ now.version if now else 'all of it') ~ ' (' ~ how.why ~ ')')) }}
{% endmacro %}
