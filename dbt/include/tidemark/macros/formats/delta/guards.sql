{# CHECK constraints given as properties are part of the creating commit. Stock dbt-spark adds them afterwards and leaves a
   table without constraints if that fails. #}
{% macro tidemark__delta_guards(constraints) %}
    {% set properties = {} %}
    {% for name, expression in constraints.items() %}
        {% do properties.update({'delta.constraints.' ~ name: expression}) %}
    {% endfor %}
    {{ return(properties) }}
{% endmacro %}

{# Delta reads an empty string in a partition column back as NULL, which is another key. #}
{% macro tidemark__delta_assertions(query) %}
    {% set found = {} %}
    {% for name in dbt.tidemark__as_list(config.get('partition_by')) if query.types.get(name) == 'string' %}
        {% set column = dbt.tidemark__quoted(name) %}
        {% do found.update({
            column ~ " is null or " ~ column ~ " <> ''":
                'a row has an empty text in the partition column `' ~ name ~ '`, which Delta stores as NULL. Write nullif(' ~ name ~ ", '') in the model."
        }) %}
    {% endfor %}
    {{ return(found) }}
{% endmacro %}

{# Conditions that Delta enforces on every commit: SQL that is true for each row. #}
{% macro tidemark__delta_enforced(properties) %}
    {{ return(dbt.tidemark__guards_in(properties).values() | list) }}
{% endmacro %}

{% macro tidemark__delta_guard_prefix() %}
    {{ return('delta.constraints.') }}
{% endmacro %}
