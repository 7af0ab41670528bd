{% macro pinned(relation, touched=none) %}
    {% if not execute or dbt.is_limited() or dbt.is_given(relation) %}
        {{ return(relation) }}
    {% endif %}
    {% set window = dbt.change_window(relation) %}
    {% set only = dbt.only_touched(relation, window, touched) if touched else '' %}
    {{ return('(select * from ' ~ dbt.as_of(relation, window.last) ~ dbt.note_of_source(window) ~ only ~ ')') }}
{% endmacro %}

{# A predicate that keeps the column values that the changes touch, as literals, so that Delta can skip files. #}
{% macro only_touched(relation, window, column) %}
    {% do dbt.note_touched(relation, 'only') %}
    {% if window.state == 'nothing new' %}
        {{ return(' where false') }}
    {% elif window.state != 'incremental' %}
        {{ return('') }}
    {% endif %}
    {% set values = dbt.values_of(column, dbt.change_rows(relation, window)) %}
    {{ return(' where ' ~ dbt.in_values(dbt.quoted(column), values) ~ dbt.note_of_values(window.source, values)) }}
{% endmacro %}

{# Keys touched by another source need rows that this restriction leaves out: stop. #}
{% macro note_touched(relation, how) %}
    {% set noted = dbt.run_state('touched').setdefault(model.unique_id, {'keys': [], 'only': []}) %}
    {% do noted[how].append(dbt.table_name(relation)) %}
    {% if noted.only and (noted['keys'] + noted.only) | unique | list | length > 1 %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ': pinned(' ~ noted.only[0] ~ ', touched=…) reads only the rows that its own changes touch, but keys come from '
            ~ noted['keys'] | unique | join(' and ') ~ '. Remove `touched`.'
        ) %}
    {% endif %}
{% endmacro %}
