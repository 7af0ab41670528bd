{# Gives columns of the present rows the values that the model's query computes, as of the versions that the table has read, in
   one commit. All other columns must be as the query computes them. #}
{% macro tidemark__rebuild_columns(relation, query) %}
    {% set named = dbt.tidemark__rebuilt_columns() %}
    {% set present = dbt.tidemark__columns_of(relation) %}
    {% do dbt.tidemark__refuse_columns(query, present, named) %}
    {% set change = dbt.tidemark__writer(relation, query).rebuilt_columns(named, present, var('rebuild_where', none)) %}
    {% set counts = change.counts %}
    {% if counts.other %}
        {% do dbt.tidemark__drop_views_of(change) %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ': ' ~ counts.other ~ ' rows differ in more than ' ~ named | join(', ') ~ ', so the change of its SQL is not only about '
            ~ 'these columns. Nothing was written. Rebuild it: `dbt run --full-refresh --select ' ~ this.identifier ~ '`.'
        ) %}
    {% endif %}
    {% if var('rebuild_plan', false) %}
        {% do store_raw_result('main', message='would update {:,} of {:,} rows'.format(
            counts.updated, counts.updated + counts.unchanged), code='PLANNED', rows_affected=0) %}
    {% else %}
        {% do dbt.tidemark__write_columns(relation, query, present, named, change) %}
    {% endif %}
    {% do dbt.tidemark__drop_views_of(change) %}
{% endmacro %}

{# The columns of the variable rebuild_columns, or none. #}
{% macro tidemark__rebuilt_columns() %}
    {% set columns = dbt.tidemark__as_list(var('rebuild_columns', none)) %}
    {{ return(columns if columns else none) }}
{% endmacro %}

{# Columns that a run cannot give to present rows. #}
{% macro tidemark__refuse_columns(query, present, named) %}
    {% set name = this.identifier ~ ': ' %}
    {% if not query['keys'] %}
        {% do exceptions.raise_compiler_error(name ~ 'it has no unique_key, by which the present rows could be found.') %}
    {% endif %}
    {% set way_out = ' Rebuild it: `dbt run --full-refresh --select ' ~ this.identifier ~ '`.' %}
    {% for column in named if column not in query.types %}
        {% do exceptions.raise_compiler_error(name ~ '`' ~ column ~ '` is not one of its columns: ' ~ query.columns | join(', ') ~ '.') %}
    {% endfor %}
    {% for column in named if column in query['keys'] + query.newest_by %}
        {% do exceptions.raise_compiler_error(name ~ '`' ~ column ~ '` is in unique_key or newest_by, so it decides which rows there are.' ~ way_out) %}
    {% endfor %}
    {% for column in query.columns if column not in present and column not in named %}
        {% do exceptions.raise_compiler_error(name ~ '`' ~ column ~ '` is not in the table yet. Name it in --columns, too.') %}
    {% endfor %}
    {% for column, type in present.items() if query.types.get(column) != type %}
        {% do exceptions.raise_compiler_error(
            name ~ 'its table has the column `' ~ column ~ '` of type ' ~ type ~ ', and its query '
            ~ (query.types.get(column) or 'does not have it') ~ '.' ~ way_out
        ) %}
    {% endfor %}
    {% set declared = dbt.tidemark__guards_in(dbt.tidemark__table_properties(model)) %}
    {% for guard, expression in dbt.tidemark__guards_in(adapter.table_state(this).properties).items()
        if dbt.tidemark__table_format() == 'delta' and declared.get(guard) != expression %}
        {% do exceptions.raise_compiler_error(name ~ 'its contract no longer has the constraint `' ~ expression ~ '` of the table.' ~ way_out) %}
    {% endfor %}
{% endmacro %}
