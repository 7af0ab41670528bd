{# The changelog that is read for changes wants rows to be changed by rewriting their files. #}
{% macro iceberg_properties(is_partitioned=false) %}
    {{ return({
        'format-version': '2', 'write.merge.mode': 'copy-on-write', 'write.update.mode': 'copy-on-write',
        'write.delete.mode': 'copy-on-write'
    }) }}
{% endmacro %}

{# Iceberg has no CHECK constraints: each written row is checked by these, and `guards` notes by what. #}
{% macro iceberg_assertions(query) %}
    {% set found = {} %}
    {% for name, expression in tidemark.constraints_of(model).items() %}
        {% do found.update({expression: 'its contract says `' ~ expression ~ '` (' ~ name ~ '), which a row denies.'}) %}
    {% endfor %}
    {{ return(found) }}
{% endmacro %}

{% macro iceberg_guards(constraints) %}
    {{ return({'tidemark.constraints': tojson(constraints, sort_keys=true)}) }}
{% endmacro %}

{# Only this project's own statements check constraints. #}
{% macro iceberg_enforced(properties) %}
    {{ return([]) }}
{% endmacro %}

{% macro iceberg_guard_prefix() %}
    {{ return('tidemark.constraints') }}
{% endmacro %}

{# The setting whose value each snapshot carries in its summary, as `written-by`. #}
{% macro iceberg_signing() %}
    {{ return('spark.sql.iceberg.snapshot-property.written-by') }}
{% endmacro %}
