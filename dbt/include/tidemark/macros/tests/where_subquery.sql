{# dbt calls this to get what a generic test reads. A test that checks each row by itself only needs the rows that the table
   gained since it last passed. #}
{% macro tidemark__get_where_subquery(relation) %}
    {% set test = model.test_metadata.name if model.test_metadata else '' %}
    {% set where = config.get('where') %}
    {% if test in ('unique', 'unique_key') %}
        {{ return(relation) }}  {# repeated_keys asks for `where` itself #}
    {% elif where and test == 'same_total' %}
        {% do exceptions.raise_compiler_error(model.name ~ ': same_total compares whole tables and does not support `where`.') %}
    {% endif %}
    {% set rows = relation %}
    {% if execute and dbt.tidemark__looks_at_rows(model) and dbt.tidemark__has_versions(relation) %}
        {% set rows = dbt.tidemark__gained_rows(relation) %}
    {% endif %}
    {{ return('(select * from ' ~ rows ~ ' where ' ~ where ~ ') dbt_subquery' if where else rows) }}
{% endmacro %}

{# True if each row passes or fails by itself, whatever the other rows are and whenever it is checked. #}
{% macro tidemark__looks_at_rows(test) %}
    {% set name = test.test_metadata.name if test.test_metadata else '' %}
    {% set is_known = name in dbt.tidemark__row_tests() or test.config.get('meta', {}).get('reads') == 'gained' %}
    {{ return(is_known and not dbt.tidemark__reads_more(test)) }}
{% endmacro %}

{% macro tidemark__row_tests() %}
    {{ return(['not_null', 'accepted_values', 'in_range']) }}
{% endmacro %}
