{# dbt asks here what a generic test reads. Tests that look at rows one by one need only those that the table gained
   since they last passed. #}
{% macro spark__get_where_subquery(relation) %}
    {% set test = model.test_metadata.name if model.test_metadata else '' %}
    {% set where = config.get('where') %}
    {% if test in ('unique', 'unique_key') %}
        {{ return(relation) }}  {# repeated_keys asks for `where` itself #}
    {% elif where and test == 'same_total' %}
        {% do exceptions.raise_compiler_error(model.name ~ ': same_total compares whole tables and takes no `where`.') %}
    {% endif %}
    {% set rows = relation %}
    {% if execute and test in tidemark.row_tests() and tidemark.has_versions(relation) %}
        {% set rows = tidemark.gained_rows(relation) %}
    {% endif %}
    {{ return('(select * from ' ~ rows ~ ' where ' ~ where ~ ') dbt_subquery' if where else rows) }}
{% endmacro %}

{% macro row_tests() %}
    {{ return(['not_null', 'accepted_values', 'in_range']) }}
{% endmacro %}
