{# A table as of one of its versions. An Iceberg table that was never written has none; its version is 0 here. #}
{% macro as_of(relation, version) %}
    {{ return('(select * from ' ~ relation ~ ' where false)' if version == 0 and dbt.table_format() == 'iceberg' else relation ~ ' version as of ' ~ version) }}
{% endmacro %}
