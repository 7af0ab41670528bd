{# The checked query; one that must be maintained from changes is refused if it cannot be. #}
{% macro tidemark__maintained_query(sql) %}
    {% set query = dbt.tidemark__checked_query(sql) %}
    {% if config.get('meta', {}).get('maintain') == 'always' and dbt.tidemark__is_plain(model) %}
        {% do dbt.tidemark__check_maintained(query) %}
    {% endif %}
    {{ return(query) }}
{% endmacro %}

{# Stops a model with `meta.maintain: always` whose query would be computed in full. #}
{% macro tidemark__check_maintained(query) %}
    {% set changed = dbt.tidemark__run_state('joined').get(model.unique_id, {}).keys() | list %}
    {% set request = {
        'key': query['keys'], 'types': query.types, 'changed': changed, 'never_null': dbt.tidemark__never_null_columns(), 'maintain': 'always',
        'known_keys': adapter.keys_below(model.unique_id, dbt.tidemark__deferred_below(model)), 'partition': dbt.tidemark__replaced_partition()
    } %}
    {% set why = adapter.why_not_maintained(dbt.tidemark__table_name(this), query.sql, request) %}
    {% if why %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ': meta.maintain is always, but its query would be computed in full: ' ~ why
            ~ '. Write it in another way (docs/plain_models.md), or remove the setting.'
        ) %}
    {% endif %}
{% endmacro %}
