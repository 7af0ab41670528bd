{# The comments of a compiled model that say with which variables its table was built, and of a plain one, what it reads, as
   changes() and watermark_filter() write them. explain and verify ask for them at the end of the model's SQL. #}
{% macro plain_reads() %}
    {% if not execute %}{{ return('') }}{% endif %}
    {% set newest = dbt.facts().newest %}
    {% set built = dbt.note({
        'built_with': newest.contract.variables if newest else none, 'compiled_with': dbt.contract_of(model.unique_id).variables
    }) %}
    {{ return(built ~ (dbt.notes_of_plain_reads() if dbt.is_plain(model) else '')) }}
{% endmacro %}

{% macro notes_of_plain_reads() %}
    {% set how = dbt.read_state() %}
    {% set notes = [] %}
    {% for window in adapter.decide().windows.planned_windows(dbt.facts(), how) %}
        {% do notes.append(dbt.note_of_source(window)) %}
        {% if how.state == 'verify' and window.last is not none %}
            {% do notes.append(dbt.note({'pins': window.source, 'as_of': dbt.as_of(dbt.relation_named(window.source), window.last)})) %}
        {% endif %}
    {% endfor %}
    {% if how.state == 'full' and not how.is_whole %}
        {% do notes.append(dbt.note({'plan': dbt.plan_request({}, how.changed)})) %}
    {% endif %}
    {{ return(notes | join(' ')) }}
{% endmacro %}
