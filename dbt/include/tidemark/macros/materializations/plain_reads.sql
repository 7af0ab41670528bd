{# The comments of a compiled plain model that say what it reads, as changes() and similar macros write them. explain and
   verify ask for them at the end of the model's SQL. #}
{% macro plain_reads() %}
    {% if not execute or not dbt.is_plain(model) %}{{ return('') }}{% endif %}
    {% set how = dbt.read_state() %}
    {% set said = [] %}
    {% for node in dbt.tables_below(model) if not dbt.is_view(node) %}
        {% set source = dbt.relation_of(node) %}
        {% set name = dbt.table_name(source) %}
        {% set now = dbt.table_state(source) if dbt.has_versions(source) else {} %}
        {% set mark = dbt.checkpoint(this, name) %}
        {% set window = {'source': name, 'state': 'nothing new' if how.state == 'incremental' else how.state, 'last': now.get('version')} %}
        {% if how.state == 'verify' %}
            {% do window.update(
                said='as of version ' ~ now.version if now else 'as it is: it has no versions',
                unproven=none if not now else 'never read' if not mark else 'changed' if dbt.lost_join(source, mark) else none
            ) %}
        {% elif how.state == 'incremental' %}
            {% do window.update(said='after version ' ~ now.version ~ ': nothing new') %}
        {% else %}
            {% set why = 'full: reads it without changes(); ' ~ how.why if how.state == 'full' else how.why %}
            {% do window.update(said=('as of version ' ~ now.version if now else 'all of it') ~ ' (' ~ why ~ ')') %}
        {% endif %}
        {% do said.append(dbt.note_of_source(window)) %}
    {% endfor %}
    {{ return(said | join(' ')) }}
{% endmacro %}
