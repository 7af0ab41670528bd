{# A table as of one of its versions, or as it is for none. An Iceberg table that was never written has none; its version is 0 here. #}
{% macro tidemark__as_of(relation, version) %}
    {% set table = relation.render() %}
    {% if version is none %}
        {{ return(table) }}
    {% endif %}
    {{ return('(select * from ' ~ table ~ ' where false)'
        if version == 0 and dbt.tidemark__table_format() == 'iceberg' else table ~ ' version as of ' ~ version) }}
{% endmacro %}

{# The version at which ref() and source() read a table with the var `as_of` (tidemark/engine/adapter/past.py), or none. #}
{% macro tidemark__past_version(relation) %}
    {{ return(relation.version if relation.version is defined else none) }}
{% endmacro %}
