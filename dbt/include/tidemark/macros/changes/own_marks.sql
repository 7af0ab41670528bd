{# The model's checkpoints, one for each source that it has read. #}
{% macro own_marks() %}
    {% set marks = [] %}
    {% for node in dbt.tables_below(model) %}
        {% set mark = dbt.checkpoint(this, dbt.table_name(dbt.relation_of(node))) %}
        {% if mark and mark.table_version is not none %}
            {% do marks.append(mark) %}
        {% endif %}
    {% endfor %}
    {{ return(marks) }}
{% endmacro %}

{# The checkpoint of the model's latest run. The checkpoint of one source may be older if it had nothing new. #}
{% macro newest_mark() %}
    {% set marks = dbt.own_marks() | sort(attribute='recorded_at') %}
    {% set newest = namespace(mark=marks[-1] if marks else {}, age=none) %}
    {% set latest = marks | selectattr('recorded_at', 'equalto', newest.mark.recorded_at) | list %}
    {% if latest | map(attribute='table_version') | unique | list | length > 1 %}
        {% for mark in latest %}
            {% set age = dbt.age_of(dbt.table_state(this), mark.table_version) %}
            {% if age is not none and (newest.age is none or age < newest.age) %}
                {% set newest.mark, newest.age = mark, age %}
            {% endif %}
        {% endfor %}
    {% endif %}
    {{ return(newest.mark) }}
{% endmacro %}
