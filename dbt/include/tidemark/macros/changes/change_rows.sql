{% macro change_rows(relation, window, only_after=false) %}
    {% set said = dbt.said_in_sql(window) %}
    {% if window.state == 'incremental' %}
        {% set kept = dbt.kept_changes(relation, window) %}
        {% if kept %}
            {{ return('(select * from ' ~ kept ~ ' ' ~ said ~ (' where ' ~ dbt.is_after_image() if only_after else '') ~ ')') }}
        {% endif %}
        {{ return(dbt.by_format('change_rows')(relation, window, said, only_after)) }}
    {% endif %}
    {# the same columns as changes have, so that a model reads either; when a row came is not known here #}
    {{ return(
        '(select *, \'insert\' as _change_type, cast(null as bigint) as _commit_version, '
        ~ 'cast(null as timestamp) as _commit_timestamp from ' ~ dbt.as_of(relation, window.last) ~ ' '
        ~ said ~ (' where false' if window.state == 'nothing new' else '') ~ ')'
    ) }}
{% endmacro %}

{# True for a relation of given rows: those of a unit test, or none with `--empty`. It has no versions. #}
{% macro is_given(relation) %}
    {{ return(relation.is_cte or relation.limit is not none) }}
{% endmacro %}

{# True for the new side of a changed row, false for the old side. #}
{% macro is_after_image() %}
    {{ return("_change_type in ('insert', 'update_postimage')") }}
{% endmacro %}

{# 1 for an added row, -1 for a removed row. The sum over equal rows is the change in their number. #}
{% macro change_sign() %}
    {{ return('if(' ~ dbt.is_after_image() ~ ', 1, -1)') }}
{% endmacro %}

{# What is read of a source. `unproven`: why a rebuild from it proves nothing, in `tidemark verify`. #}
{% macro said_in_sql(window) %}
    {% set facts = {'reads': window.source} %}
    {% for name in ('state', 'after', 'last', 'said', 'unproven') %}
        {% do facts.update({name: window.get(name)}) %}
    {% endfor %}
    {{ return(dbt.note(facts)) }}
{% endmacro %}

{# The values of a column that a model reads again in a source. #}
{% macro said_of_values(source, values) %}
    {% if not values.number %}
        {{ return('') }}
    {% endif %}
    {% set span = values.lowest if values.lowest == values.highest else values.lowest ~ ' .. ' ~ values.highest %}
    {% set said = values.column ~ ': ' ~ values.number ~ ' value' ~ ('' if values.number == 1 else 's') ~ ', ' ~ (span or 'null') %}
    {{ return(dbt.note({'prunes': source, 'said': said})) }}
{% endmacro %}
