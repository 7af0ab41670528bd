{# `delta` or `iceberg`: what the target's setting spark.sql.sources.default says. #}
{% macro table_format() %}
    {% set state = tidemark.run_state('format') %}
    {% if 'name' not in state %}
        {% set asked = 'spark.sql.sources.default' %}
        {% do state.update(name=adapter.setting(asked) or run_query('set ' ~ asked).rows[0]['value']) %}
    {% endif %}
    {{ return(state.name) }}
{% endmacro %}

{# Of the macros `delta_<name>` and `iceberg_<name>` the one for the lake's format. #}
{% macro by_format(name) %}
    {{ return(context['tidemark'][tidemark.table_format() ~ '_' ~ name]) }}
{% endmacro %}
