{# The keys that occur more than once, among the keys of the rows that the table gained since the test last passed. #}
{% macro repeated_keys(relation, columns) %}
    {% set keys = dbt.as_list(columns) %}
    {% set window = dbt.tested_window(relation) if execute and dbt.has_versions(relation) else {'state': 'whole'} %}
    {% set few = window.state == 'nothing new' or window.state == 'incremental' and dbt.read_metrics(relation, window).rows < 100000 %}
    select {{ '/*+ broadcast(gained) */ ' if few }}{{ dbt.quoted(keys) }}, count(*) as copies
    from (
        select * from {{ dbt.as_of(relation, window.last) if window.last is defined else relation }}
        {{ 'where ' ~ config.get('where') if config.get('where') }}
    ) as present
    {% if window.state != 'whole' -%}
    left semi join {{ dbt.gained_rows(relation) }} as gained
        on {{ dbt.null_safe_equal('present', 'gained', keys) }}
    {{ dbt.where_written(relation, keys, window) }}
    {% endif -%}
    group by {{ dbt.quoted(keys) }}
    having count(*) > 1
{% endmacro %}

{# The literals that this command's merge pruned by, if the test only covers the commit of this merge. #}
{% macro where_written(relation, keys, window) %}
    {% set maker = dbt.model_of(relation).get('unique_id') %}
    {% set values = dbt.run_state('pruning').get(maker) %}
    {% set version = dbt.run_state('written').get(maker, {}).get('version') %}
    {% if values and window.last == version and values.column in keys and adapter.commits_between(relation, window.after, window.last) | length == 1 %}
        {{ return('where ' ~ values.among('present.' ~ dbt.quoted(values.column))) }}
    {% endif %}
    {{ return('') }}
{% endmacro %}

{# dbt's `unique`: NULL does not count. #}
{% macro tidemark__test_unique(model, column_name) %}
    {% if execute %}
    select {{ column_name }} as unique_field, copies as n_records
    from ({{ dbt.repeated_keys(model, column_name) }}) where {{ column_name }} is not null
    {% endif %}
{% endmacro %}
