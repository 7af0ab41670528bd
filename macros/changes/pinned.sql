{% macro pinned(relation, touched=none) %}
    {% if not execute or tidemark.is_given(relation) %}
        {{ return(relation) }}
    {% endif %}
    {% set window = tidemark.change_window(relation) %}
    {% set only = tidemark.only_touched(relation, window, touched) if touched else '' %}
    {{ return('(select * from ' ~ tidemark.as_of(relation, window.last) ~ tidemark.said_in_sql(window) ~ only ~ ')') }}
{% endmacro %}

{# A predicate that keeps the column values that the changes touch, as literals, so that Delta can skip files. #}
{% macro only_touched(relation, window, column) %}
    {% do tidemark.note_touched(relation, 'only') %}
    {% if window.state == 'nothing new' %}
        {{ return(' where false') }}
    {% elif window.state != 'incremental' %}
        {{ return('') }}
    {% endif %}
    {% set values = tidemark.values_of(column, tidemark.change_rows(relation, window)) %}
    {{ return(' where ' ~ tidemark.among(tidemark.quoted(column), values) ~ tidemark.said_of_values(window.source, values)) }}
{% endmacro %}

{# Keys touched by another source need rows that this restriction leaves out: stop. #}
{% macro note_touched(relation, how) %}
    {% set noted = tidemark.run_state('touched').setdefault(model.unique_id, {'keys': [], 'only': []}) %}
    {% do noted[how].append(tidemark.table_name(relation)) %}
    {% if noted.only and (noted['keys'] + noted.only) | unique | list | length > 1 %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ': pinned(' ~ noted.only[0] ~ ', touched=…) reads only the rows that its own changes touch, but keys come from '
            ~ noted['keys'] | unique | join(' and ') ~ '. Remove `touched`.'
        ) %}
    {% endif %}
{% endmacro %}
