{# A table as of one of its versions, or as it is for none. An Iceberg table that was never written has none; its version is 0 here. #}
{% macro as_of(relation, version) %}
    {% if version is none %}
        {{ return(relation) }}
    {% endif %}
    {{ return('(select * from ' ~ relation ~ ' where false)' if version == 0 and dbt.table_format() == 'iceberg' else relation ~ ' version as of ' ~ version) }}
{% endmacro %}
