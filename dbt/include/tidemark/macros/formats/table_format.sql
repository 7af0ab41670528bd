{# `delta` or `iceberg`: the target's setting spark.sql.sources.default. #}
{% macro table_format() %}
    {% set state = dbt.run_state('format') %}
    {% if 'name' not in state %}
        {% set asked = 'spark.sql.sources.default' %}
        {% do state.update(name=adapter.setting(asked) or run_query('set ' ~ asked).rows[0]['value']) %}
    {% endif %}
    {{ return(state.name) }}
{% endmacro %}

{# The macro `delta_<name>` or `iceberg_<name>`, depending on the lake's format. #}
{% macro by_format(name) %}
    {{ return(context['dbt'][dbt.table_format() ~ '_' ~ name]) }}
{% endmacro %}
