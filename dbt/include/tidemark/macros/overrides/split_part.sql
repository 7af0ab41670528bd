{# dbt-spark splits by a regular expression that it makes from the delimiter: one that begins with a letter stops the query. Spark has the
   function itself. #}
{% macro tidemark__split_part(string_text, delimiter_text, part_number) %}
    split_part({{ string_text }}, {{ delimiter_text }}, {{ part_number }})
{% endmacro %}
