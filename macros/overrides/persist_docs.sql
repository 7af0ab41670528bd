{# Stock dbt-spark runs one ALTER, one commit, a column a run; here only where a comment differs. #}
{% macro spark__alter_column_comment(relation, column_dict) %}
    {% set present = {} %}
    {% for row in run_query('describe table ' ~ relation) %}
        {% do present.update({row['col_name']: row['comment'] or ''}) %}
    {% endfor %}
    {% set changes = [] %}
    {% for name, column in column_dict.items() if column.description != present.get(name, '') %}
        {% do changes.append(name ~ " comment '" ~ tidemark.escaped(column.description) ~ "'") %}
    {% endfor %}
    {% if changes %}
        {% do run_query('alter table ' ~ relation ~ ' alter column ' ~ changes | join(', ')) %}
    {% endif %}
{% endmacro %}
