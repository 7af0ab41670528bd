{# The model's query with its contract checked: on every run, not only when the table is created. #}
{% macro checked_query(sql) %}
    {% set names = get_column_schema_from_query(sql) | map(attribute='name') | list %}
    {% set flags_deletes = '_is_deleted' in names %}
    {% if config.get('contract').enforced %}
        {% set stored = 'select * except (_is_deleted) from (' ~ sql ~ ')' if flags_deletes else sql %}
        {% do get_assert_columns_equivalent(stored) %}
        {% set names = model.columns.keys() | list %}
    {% endif %}
    {% if not config.get('unique_key') %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ': unique_key is not set. Give the columns of its grain: {{ config(unique_key=[...]) }}.'
        ) %}
    {% endif %}
    {{ return({'sql': sql, 'columns': names | reject('equalto', '_is_deleted') | list, 'flags_deletes': flags_deletes}) }}
{% endmacro %}

{# A table whose columns are not the model's would make incremental and rebuilt tables differ: stop. #}
{% macro check_table_columns(relation, query) %}
    {% set present = adapter.get_columns_in_relation(relation) | map(attribute='name') | list %}
    {% if present | sort != query.columns | sort %}
        {% do exceptions.raise_compiler_error(
            relation ~ ' has the columns ' ~ present | join(', ') ~ ', its model has ' ~ query.columns | join(', ')
            ~ '. Rebuild it: `dbt run --full-refresh --select ' ~ relation.identifier ~ '`.'
        ) %}
    {% endif %}
{% endmacro %}
