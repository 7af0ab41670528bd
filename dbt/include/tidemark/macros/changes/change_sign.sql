{# True for the new side of a changed row, false for the old side. #}
{% macro tidemark__is_after_image() %}
    {{ return("_change_type in ('insert', 'update_postimage')") }}
{% endmacro %}

{# 1 for an added row, -1 for a removed row. The sum over equal rows is the change in their number. #}
{% macro tidemark__change_sign() %}
    {{ return('if(' ~ dbt.tidemark__is_after_image() ~ ', 1, -1)') }}
{% endmacro %}
