{# The predicate on the present table that lets Delta skip files: the batch's values of `meta.prune_by`, as literals. This is
   only safe if a key always has the same value, so it must be a column of the key, or come with an expression that computes
   it from the key. #}
{% macro pruned_by(query, batch) %}
    {% set declared = config.get('meta', {}).get('prune_by') %}
    {% if query.region %}
        {% do dbt.run_state('pruning').update({model.unique_id: query.region['values']}) %}
        {{ return({'predicate': 'and ' ~ query.region.predicate if query.region.predicate else '', 'values': query.region['values']}) }}
    {% elif not declared %}
        {{ return({'predicate': '', 'values': none}) }}
    {% endif %}
    {% set column, expression = dbt.declared_pruning(query) %}
    {% if expression is not none %}
        {% do dbt.check_determined(query, batch, column, expression) %}
    {% endif %}
    {% set values = dbt.values_of(column, batch) %}
    {% do dbt.run_state('pruning').update({model.unique_id: values}) %}
    {{ return({'predicate': 'and ' ~ dbt.in_values('present.' ~ dbt.quoted(column), values), 'values': values}) }}
{% endmacro %}

{# The column of `meta.prune_by` and its expression or none. Raises an error if pruning is not safe. #}
{% macro declared_pruning(query) %}
    {% set declared = config.get('meta', {}).get('prune_by') %}
    {% set column, expression = (declared, none) if declared is string else (declared.items() | list)[0] %}
    {% set column = adapter.columns_named([column], query.columns)[0] %}
    {% if column not in query.types %}
        {% do exceptions.raise_compiler_error(this.identifier ~ ': prune_by names `' ~ column ~ '`, which is not one of its columns.') %}
    {% elif expression is none and column not in query['keys'] %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ': prune_by `' ~ column ~ '` is not in unique_key, so a row whose value changes would be in the table twice. '
            ~ "Add it to unique_key, or compute it from the key: prune_by: {" ~ column ~ ": 'expression of " ~ query['keys'] | join(', ') ~ "'}."
        ) %}
    {% endif %}
    {{ return([column, expression]) }}
{% endmacro %}

{# The same check for the rows of a new table, as a condition that stops the statement. #}
{% macro and_determined(query) %}
    {% if not config.get('meta', {}).get('prune_by') %}
        {{ return('') }}
    {% endif %}
    {% set column, expression = dbt.declared_pruning(query) %}
    {{ return(
        '' if expression is none else 'and assert_true((' ~ expression ~ ') <=> ' ~ dbt.quoted(column) ~ ", '"
        ~ dbt.escaped(this.identifier ~ ': prune_by says that `' ~ column ~ '` is ' ~ expression ~ ', but a row differs.') ~ "') is null"
    ) }}
{% endmacro %}

{# The expression only sees the columns of the key and must give each row's value. #}
{% macro check_determined(query, batch, column, expression) %}
    {% set wrong = run_query(
        'select count(*) as rows from (select ' ~ dbt.quoted(query['keys']) ~ ', ' ~ dbt.quoted(column)
        ~ ' as __tidemark_declared from ' ~ batch ~ ') where not ((' ~ expression ~ ') <=> __tidemark_declared)'
    ).rows[0]['rows'] | int %}
    {% if wrong %}
        {% do dbt.drop_cached_view('batch') %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ': prune_by says that `' ~ column ~ '` is ' ~ expression ~ ', but ' ~ wrong ~ ' of this run\'s rows differ.'
        ) %}
    {% endif %}
{% endmacro %}
