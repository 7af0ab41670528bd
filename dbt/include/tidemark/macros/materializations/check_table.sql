{# A table that was built with another contract than the model's would differ from a rebuilt one: stop. #}
{% macro tidemark__check_table(relation, query) %}
    {% set present = dbt.tidemark__columns_of(relation) %}
    {% if present != query.types %}
        {% do dbt.tidemark__ask_for_rebuild(relation, 'columns', present, query.types) %}
    {% endif %}
    {% do dbt.tidemark__check_guards(relation) %}
{% endmacro %}

{# A table must have the constraints of its contract, and no others. #}
{% macro tidemark__check_guards(relation) %}
    {% set guarded = dbt.tidemark__guards_in(adapter.table_state(relation).properties) %}
    {% set declared = dbt.tidemark__guards_in(dbt.tidemark__table_properties(model)) %}
    {% if guarded != declared %}
        {% do dbt.tidemark__ask_for_rebuild(relation, 'constraints', guarded, declared) %}
    {% endif %}
{% endmacro %}

{% macro tidemark__ask_for_rebuild(relation, what, present, declared) %}
    {% do exceptions.raise_compiler_error(
        'The ' ~ what ~ ' of ' ~ relation ~ ' are ' ~ present ~ ', but its model has ' ~ declared
        ~ '. Rebuild it: `dbt run --full-refresh --select ' ~ relation.identifier ~ '`.'
    ) %}
{% endmacro %}
