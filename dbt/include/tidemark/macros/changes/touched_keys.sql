{% macro touched_keys(relation, columns) %}
    {% if not execute or dbt.is_limited() or dbt.is_given(relation) %}
        {% set rows = relation %}
    {% else %}
        {% do dbt.note_touched(relation, 'keys') %}
        {# before-images too: a row that moved away touches the key that it left #}
        {% set rows = dbt.change_rows(relation, dbt.change_window(relation)) %}
    {% endif %}
    {{ return('(select distinct ' ~ dbt.quoted(columns) ~ ' from ' ~ rows ~ ')') }}
{% endmacro %}
