{# Why the changes of a source after a version cannot be read one by one, as text, or none. #}
{% macro lost_history(relation, checkpoint, now, is_landed) %}
    {% set age = dbt.age_of(now, checkpoint.version) %}
    {% if checkpoint.source_id != now.id or age is none %}
        {{ return(dbt.by_format('words_of_loss')(dbt.table_name(relation), checkpoint)) }}
    {% elif age == 0 %}
        {{ return(none) }}
    {% endif %}
    {{ return(dbt.by_format('lost_history')(relation, checkpoint, now, is_landed)) }}
{% endmacro %}

{# True if a table may have other rows after these commits. #}
{% macro may_change_rows(commits) %}
    {{ return(commits | rejectattr('keeps_rows') | list != []) }}
{% endmacro %}
