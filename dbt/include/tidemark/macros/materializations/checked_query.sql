{# The model's query, checked against its contract on every run, not only when the table is created. #}
{% macro tidemark__checked_query(sql) %}
    {% set sql = sql ~ '\n' %}  {# it may end with a comment #}
    {% set found = adapter.columns_of_query(model.unique_id, sql, {
        'unique_key': dbt.tidemark__as_list(config.get('unique_key')), 'newest_by': dbt.tidemark__as_list(config.get('meta', {}).get('newest_by')),
        'partition_by': dbt.tidemark__as_list(config.get('partition_by')), 'tblproperties': config.get('tblproperties')
    }) %}
    {% if found.refused %}
        {% do exceptions.raise_compiler_error(this.identifier ~ ': ' ~ found.refused) %}
    {% endif %}
    {% set types, helpers = found.types, found.helpers %}
    {% set newest_by = found.newest_by %}
    {% set keys = found['keys'] or adapter.proven_key(sql, types, adapter.keys_below(model.unique_id, dbt.tidemark__deferred_below(model))) %}
    {% for name in dbt.tidemark__run_state('retracted').get(model.unique_id, []) if name not in helpers %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ': it reads a feed with `on_removed: retract`, but does not select `' ~ name ~ '`, so it would keep rows that '
            ~ 'are gone. Select `_is_deleted` and `_is_retracted` from newest_of(); they are not stored.'
        ) %}
    {% endfor %}
    {% for name in keys + newest_by if name not in types %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ': `' ~ name ~ '` is in unique_key or newest_by, but not among its columns: ' ~ types.keys() | join(', ') ~ '. '
            ~ 'An expression cannot be a key: select it as a column.'
        ) %}
    {% endfor %}
    {% do dbt.tidemark__check_key_types(types, keys) %}
    {% set text = adapter.text_that_orders(newest_by, types) %}
    {% if text %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ': newest_by is `' ~ text ~ '`, which is text (' ~ types[text] ~ '). As text, 9/30/2024 comes after 10/1/2024. Cast it to a '
            ~ 'date, a time or a number first, with a macro such as as_timestamp, or remove newest_by: the row that landed last stays.'
        ) %}
    {% endif %}
    {# a model without declared columns has no contract to check #}
    {% if config.get('contract').enforced and model.columns and not dbt.tidemark__is_as_declared(types) %}
        {% do get_assert_columns_equivalent('select * except (' ~ helpers | join(', ') ~ ') from (' ~ sql ~ ')' if helpers else sql) %}
    {% endif %}
    {{ return({
        'sql': sql, 'columns': types.keys() | list, 'types': types, 'keys': keys, 'newest_by': newest_by,
        'values': types.keys() | reject('in', keys) | list,
        'helpers': helpers, 'flag': '_is_deleted' if '_is_deleted' in helpers else none, 'retracts': '_is_retracted' in helpers,
        'counts_versions': '_versions' in helpers, 'limited': found.limited
    }) }}
{% endmacro %}

{# True if names and types are exactly those of the contract. dbt's own comparison costs two more queries. #}
{% macro tidemark__is_as_declared(types) %}
    {% set declared = {} %}
    {% for column in model.columns.values() %}
        {% do declared.update({column.name: column.data_type | lower | replace(' ', '')}) %}
    {% endfor %}
    {{ return(declared == types) }}
{% endmacro %}

{# Refuses types that cannot be compared as keys. #}
{% macro tidemark__check_key_types(types, keys) %}
    {% for name in keys if modules.re.match('(struct|array|map|variant)', types[name]) %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ': `' ~ name ~ '` is in unique_key and is of type ' ~ types[name] ~ '. Key columns must have simple types: select the fields '
            ~ 'that identify a row, or use to_json(' ~ name ~ ').'
        ) %}
    {% endfor %}
{% endmacro %}
