{% macro touched_keys(relation, columns) %}
    {% if not execute or tidemark.is_given(relation) %}
        {% set rows = relation %}
    {% else %}
        {% do tidemark.note_touched(relation, 'keys') %}
        {# before-images too: a row that moved away touches the key that it left #}
        {% set rows = tidemark.change_rows(relation, tidemark.change_window(relation)) %}
    {% endif %}
    {{ return('(select distinct ' ~ tidemark.quoted(columns) ~ ' from ' ~ rows ~ ')') }}
{% endmacro %}
