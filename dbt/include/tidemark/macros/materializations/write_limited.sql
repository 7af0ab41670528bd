{# What a command with --empty or --sample writes: a table of its own that no checkpoint calls complete. It never writes into a
   table that holds all rows, or rows of another writer. #}
{% macro tidemark__write_limited(existing, sql) %}
    {% set option = 'empty' if flags.EMPTY else 'sample' %}
    {% set is_new = existing is none or should_full_refresh() %}
    {% set is_kept = existing is not none and not should_full_refresh() and (
        dbt.tidemark__other_writer(this) or not dbt.tidemark__facts().leaves_checkpoints or dbt.tidemark__way_of(model).accumulates
    ) %}
    {% if flags.EMPTY and not is_new %}
        {% do dbt.tidemark__checked_query(sql) %}
        {% do dbt.tidemark__report_written({}) %}
    {% elif dbt.tidemark__facts().own_checkpoints or is_kept %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ': `--' ~ option ~ '` would put ' ~ ('an empty table' if flags.EMPTY else 'a part of the rows')
            ~ ' in the place of a complete table. Nothing was written. Use a schema of its own, as in `TIDEMARK_SCHEMA=' ~ option
            ~ ' dbt run --' ~ option ~ '`, or a target with another schema.'
        ) %}
    {% else %}
        {% do dbt.tidemark__replace_table(dbt.tidemark__checked_query(sql)) %}
    {% endif %}
{% endmacro %}
