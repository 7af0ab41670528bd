{# The changelog that is read for changes wants rows to be changed by rewriting their files. #}
{% macro iceberg_properties(is_partitioned=false) %}
    {{ return({
        'format-version': '2', 'write.merge.mode': 'copy-on-write', 'write.update.mode': 'copy-on-write',
        'write.delete.mode': 'copy-on-write'
    }) }}
{% endmacro %}

{# Iceberg has no CHECK constraints: and_contract_holds() checks what is written, and this notes by what. #}
{% macro iceberg_guards(constraints) %}
    {{ return({'tidemark.constraints': tojson(constraints, sort_keys=true)}) }}
{% endmacro %}

{% macro iceberg_guard_prefix() %}
    {{ return('tidemark.constraints') }}
{% endmacro %}
