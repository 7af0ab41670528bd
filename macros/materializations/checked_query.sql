{# The model's query with its contract checked: on every run, not only when the table is created. #}
{% macro checked_query(sql) %}
    {% set types = {} %}
    {% for column in get_column_schema_from_query(sql) %}
        {% do types.update({column.name: column.dtype}) %}
    {% endfor %}
    {% set flags_deletes = '_is_deleted' in types %}
    {% do types.pop('_is_deleted', none) %}
    {% if config.get('contract').enforced %}
        {% set stored = 'select * except (_is_deleted) from (' ~ sql ~ ')' if flags_deletes else sql %}
        {% do get_assert_columns_equivalent(stored) %}
    {% endif %}
    {% if not config.get('unique_key') %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ': unique_key is not set. Give the columns of its grain: {{ config(unique_key=[...]) }}.'
        ) %}
    {% endif %}
    {{ return({'sql': sql, 'columns': types.keys() | list, 'types': types, 'flags_deletes': flags_deletes}) }}
{% endmacro %}
