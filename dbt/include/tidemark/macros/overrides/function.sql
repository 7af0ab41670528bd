{# Functions of `functions/` are refused before Spark reads dbt's CREATE FUNCTION, which it cannot parse. #}
{% materialization function, adapter='tidemark', supported_languages=['sql', 'python', 'javascript'] %}
    {% do exceptions.raise_compiler_error(
        model.original_file_path ~ ': dbt-spark does not create functions. Write the expression in a macro, and leave the function out: `--exclude '
        ~ model.name ~ '`.'
    ) %}
{% endmaterialization %}
