{# Notes the versioned tables that a model reads as they are, by a plain ref() or source(): changes() and its kin know
   nothing of them. When one changes, rows that were built with it may come out differently, so the model is rebuilt. #}
{% macro note_joined_tables() %}
    {% set joined = {} %}
    {% set read = tidemark.run_state('windows').get(model.unique_id, {}) %}
    {% for node in tidemark.dependencies(model) if not flags.EMPTY %}
        {% set relation = api.Relation.create(schema=node.schema, identifier=node.get('alias') or node.identifier) %}
        {% set source = tidemark.table_name(relation) %}
        {% if source not in read and tidemark.has_versions(relation) %}
            {% set state = tidemark.read_state().state %}
            {% set now = tidemark.table_state(relation) %}
            {% do joined.update({source: {
                'source': source, 'source_id': 'joined ' ~ now.id, 'first': 0, 'last': now.version,
                'state': 'nothing new' if state == 'incremental' else state, 'said': 'as of version ' ~ now.version
            }}) %}
        {% endif %}
    {% endfor %}
    {% do tidemark.run_state('joined').update({model.unique_id: joined}) %}
{% endmacro %}

{% macro is_of_join(mark) %}
    {{ return((mark.source_id or '').startswith('joined ')) }}
{% endmacro %}

{# Why a table that the model joins as it is may give other rows than at the mark, in words, or none. #}
{% macro lost_join(relation, mark) %}
    {% set now = tidemark.table_state(relation) %}
    {% if mark.source_id == 'joined ' ~ now.id and mark.version <= now.version %}
        {% set commits = tidemark.commits_since(relation, mark.version) %}
        {% if commits | length == now.version - mark.version and not tidemark.may_change_rows(commits) %}
            {{ return(none) }}
        {% endif %}
    {% endif %}
    {{ return(tidemark.table_name(relation) ~ ' changed, and is joined as it is') }}
{% endmacro %}
