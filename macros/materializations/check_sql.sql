{# Stops a model whose SQL cannot give what a rebuild gives, before anything runs. #}
{% macro check_sql() %}
    {% set found = adapter.findings_of(model.unique_id) %}
    {% if found %}
        {% do exceptions.raise_compiler_error(
            model.original_file_path ~ ' would not be what a rebuild gives:\n  ' ~ found | join('\n  ')
            ~ '\nWhere that is not so, write in the SQL: `-- tidemark: allow <rule>: <reason>` (docs/static_checks.md).'
        ) %}
    {% endif %}
{% endmacro %}
