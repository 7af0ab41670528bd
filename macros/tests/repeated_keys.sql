{# The keys that occur more than once, among the keys of the rows that the table gained since the test last passed. #}
{% macro repeated_keys(relation, columns) %}
    {% set keys = tidemark.as_list(columns) %}
    {% set window = tidemark.tested_window(relation) if execute and tidemark.has_versions(relation) else {'state': 'whole'} %}
    {% set few = window.state == 'nothing new' or window.state == 'incremental' and tidemark.read_metrics(relation, window).rows < 100000 %}
    select {{ '/*+ broadcast(gained) */ ' if few }}{{ tidemark.quoted(keys) }}, count(*) as copies
    from (
        select * from {{ tidemark.as_of(relation, window.last) if window.last is defined else relation }}
        {{ 'where ' ~ config.get('where') if config.get('where') }}
    ) as present
    {% if window.state != 'whole' -%}
    left semi join {{ tidemark.gained_rows(relation) }} as gained
        on {{ tidemark.null_safe_equal('present', 'gained', keys) }}
    {{ tidemark.where_written(relation, keys, window) }}
    {% endif -%}
    group by {{ tidemark.quoted(keys) }}
    having count(*) > 1
{% endmacro %}

{# The literals that this command's merge pruned by, if the test only covers the commit of this merge. #}
{% macro where_written(relation, keys, window) %}
    {% set maker = tidemark.model_of(relation).get('unique_id') %}
    {% set values = tidemark.run_state('pruning').get(maker) %}
    {% set version = tidemark.run_state('written').get(maker, {}).get('version') %}
    {% if values and window.last == version and values.column in keys and tidemark.commits_of(relation, window) | length == 1 %}
        {{ return('where ' ~ tidemark.among('present.' ~ tidemark.quoted(values.column), values)) }}
    {% endif %}
    {{ return('') }}
{% endmacro %}

{# dbt's `unique`: NULL does not count. #}
{% macro spark__test_unique(model, column_name) %}
    select * from ({{ tidemark.repeated_keys(model, column_name) }}) where {{ column_name }} is not null
{% endmacro %}
