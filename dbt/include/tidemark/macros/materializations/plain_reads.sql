{# The comments of a compiled model that say with which variables its table was built, and of a plain one, what it reads, as
   changes() and watermark_filter() write them. explain and verify ask for them at the end of the model's SQL. #}
{% macro tidemark__plain_reads() %}
    {% if not execute %}{{ return('') }}{% endif %}
    {% set newest = dbt.tidemark__facts().newest %}
    {% set built = dbt.tidemark__note({
        'built_with': newest.contract.variables if newest else none, 'compiled_with': dbt.tidemark__contract_of(model.unique_id).variables
    }) %}
    {{ return(built ~ (dbt.tidemark__notes_of_plain_reads() if dbt.tidemark__is_plain(model) else '')) }}
{% endmacro %}

{% macro tidemark__notes_of_plain_reads() %}
    {% set how = dbt.tidemark__read_state() %}
    {% set notes = [] %}
    {% for window in adapter.decide().windows.planned_windows(dbt.tidemark__facts(), how) %}
        {% do notes.append(dbt.tidemark__note_of_source(window)) %}
        {% if how.state == 'verify' and window.last is not none %}
            {% set reading = dbt.tidemark__as_of(dbt.tidemark__relation_named(window.source), window.last) %}
            {% do notes.append(dbt.tidemark__note({'pins': window.source, 'as_of': reading})) %}
        {% endif %}
    {% endfor %}
    {% if how.state == 'full' and not how.is_whole %}
        {% set took = adapter.decide().costs.seconds(dbt.tidemark__measured_runs()) %}
        {% do notes.append(dbt.tidemark__note({'plan': dbt.tidemark__plan_request({}, how.changed), 'took': took})) %}
    {% endif %}
    {{ return(notes | join(' ')) }}
{% endmacro %}
