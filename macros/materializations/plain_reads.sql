{# The comments of a compiled plain model that say what it reads, as changes() and similar macros write them. explain and
   verify ask for them at the end of the model's SQL. #}
{% macro plain_reads() %}
    {% if not execute or not tidemark.is_plain(model) %}{{ return('') }}{% endif %}
    {% set how = tidemark.read_state() %}
    {% set said = [] %}
    {% for node in tidemark.tables_below(model) if not tidemark.is_view(node) %}
        {% set source = tidemark.relation_of(node) %}
        {% set name = tidemark.table_name(source) %}
        {% set now = tidemark.table_state(source) if tidemark.has_versions(source) else {} %}
        {% set mark = tidemark.checkpoint(this, name) %}
        {% set window = {'source': name, 'state': 'nothing new' if how.state == 'incremental' else how.state, 'last': now.get('version')} %}
        {% if how.state == 'verify' %}
            {% do window.update(
                said='as of version ' ~ now.version if now else 'as it is: it has no versions',
                unproven=none if not now else 'never read' if not mark else 'changed' if tidemark.lost_join(source, mark) else none
            ) %}
        {% elif how.state == 'incremental' %}
            {% do window.update(said='after version ' ~ now.version ~ ': nothing new') %}
        {% else %}
            {% set why = 'full: reads it without changes(); ' ~ how.why if how.state == 'full' else how.why %}
            {% do window.update(said=('as of version ' ~ now.version if now else 'all of it') ~ ' (' ~ why ~ ')') %}
        {% endif %}
        {% do said.append(tidemark.said_in_sql(window)) %}
    {% endfor %}
    {{ return(said | join(' ')) }}
{% endmacro %}
