{# Stops a model whose SQL cannot give the same table as a rebuild, before anything runs. #}
{% macro tidemark__check_sql() %}
    {% set way = dbt.tidemark__way_of(model) %}
    {% if way.refused %}
        {% do exceptions.raise_compiler_error(this.identifier ~ ': ' ~ way.refused) %}
    {% endif %}
    {% set found = adapter.findings_of(model.unique_id) %}
    {% if found %}
        {% do exceptions.raise_compiler_error(
            model.original_file_path ~ ' could differ from a rebuild:\n  ' ~ found | join('\n  ')
            ~ '\nIf a finding does not apply, write in the SQL: `-- tidemark: allow <rule>: <reason>` (docs/static_checks.md).'
        ) %}
    {% endif %}
{% endmacro %}
