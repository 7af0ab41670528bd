{# The comments of a compiled model that say what it reads, as changes() and its kin write them; explain and verify ask for
   them at the end of a plain model. #}
{% macro plain_reads() %}
    {% if not execute or not tidemark.is_plain(model) %}{{ return('') }}{% endif %}
    {% set how = tidemark.read_state() %}
    {% set said = [] %}
    {% for node in tidemark.tables_below(model) if not tidemark.is_view(node) %}
        {% set source = tidemark.relation_of(node) %}
        {% set name = tidemark.table_name(source) %}
        {% set now = tidemark.table_state(source) if tidemark.has_versions(source) else {} %}
        {% set mark = tidemark.checkpoint(this, name) %}
        {% if how.state == 'verify' %}
            {% set words = 'as it is: it has no versions' if not now else 'never' if not mark
                else 'changed' if tidemark.lost_join(source, mark) else 'as of version ' ~ now.version %}
        {% else %}
            {% set words = 'after version ' ~ now.version ~ ': nothing new' if how.state == 'incremental'
                else ('as of version ' ~ now.version if now else 'all of it') ~ ' (' ~ (how.why if how.state != 'full' else 'full: reads it without changes(); ' ~ how.why) ~ ')' %}
        {% endif %}
        {% do said.append('/* consumes ' ~ name ~ ' ' ~ words ~ ' */') %}
    {% endfor %}
    {{ return(said | join(' ')) }}
{% endmacro %}
