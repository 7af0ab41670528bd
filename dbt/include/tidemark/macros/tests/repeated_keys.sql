{# The keys that occur more than once, among the keys of the rows that the table gained since the test last passed. #}
{% macro tidemark__repeated_keys(relation, columns) %}
    {% set keys = dbt.tidemark__as_list(columns) %}
    {% set window = dbt.tidemark__tested_window(relation) if execute and dbt.tidemark__has_versions(relation) else {'state': 'whole'} %}
    {% set few = window.state == 'nothing new' or window.state == 'incremental' and dbt.tidemark__read_metrics(relation, window).rows < 100000 %}
    select {{ '/*+ broadcast(gained) */ ' if few }}{{ dbt.tidemark__quoted(keys) }}, count(*) as copies
    from (
        select * from {{ dbt.tidemark__as_of(relation, window.last) if window.last is defined else relation }}
        {{ 'where ' ~ config.get('where') if config.get('where') }}
    ) as present
    {% if window.state != 'whole' -%}
    left semi join {{ dbt.tidemark__gained_rows(relation) }} as gained
        on {{ dbt.tidemark__null_safe_equal('present', 'gained', keys) }}
    {{ dbt.tidemark__where_written(relation, keys, window) }}
    {% endif -%}
    group by {{ dbt.tidemark__quoted(keys) }}
    having count(*) > 1
{% endmacro %}

{# The literals that this command's merge pruned by, if the test only covers the commit of this merge. #}
{% macro tidemark__where_written(relation, keys, window) %}
    {% set maker = dbt.tidemark__model_of(relation).get('unique_id') %}
    {% set values = dbt.tidemark__run_state('pruning').get(maker) %}
    {% set version = dbt.tidemark__run_state('written').get(maker, {}).get('version') %}
    {% if values and window.last == version and values.column in keys and adapter.commits_between(relation, window.after, window.last) | length == 1 %}
        {{ return('where ' ~ values.among('present.' ~ dbt.tidemark__quoted(values.column))) }}
    {% endif %}
    {{ return('') }}
{% endmacro %}

{# dbt's `unique`: NULL does not count. #}
{% macro tidemark__test_unique(model, column_name) %}
    {% if execute %}
    select {{ column_name }} as unique_field, copies as n_records
    from ({{ dbt.tidemark__repeated_keys(model, column_name) }}) where {{ column_name }} is not null
    {% endif %}
{% endmacro %}
