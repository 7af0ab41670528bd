{# With `--empty`, a relation is written as a subquery of no rows; render() gives the table. #}
{% macro tidemark__alter_column_type(relation, column_name, new_column_type) %}
    {% do run_query('alter table ' ~ relation.render() ~ ' alter column ' ~ column_name ~ ' type ' ~ new_column_type) %}
{% endmacro %}
