{# The model's checkpoints, one for each source that it has read. #}
{% macro own_checkpoints() %}
    {% set own = [] %}
    {% for node in dbt.tables_below(model) %}
        {% set checkpoint = dbt.checkpoint(this, dbt.table_name(dbt.relation_of(node))) %}
        {% if checkpoint and checkpoint.table_version is not none %}
            {% do own.append(checkpoint) %}
        {% endif %}
    {% endfor %}
    {{ return(own) }}
{% endmacro %}

{# The checkpoint of the model's latest run, or none. The checkpoint of one source may be older if it had nothing new. #}
{% macro newest_checkpoint() %}
    {% set latest = adapter.latest_checkpoints(dbt.own_checkpoints()) %}
    {% set newest = namespace(checkpoint=latest | last if latest else none, age=none) %}
    {% for checkpoint in latest if latest | length > 1 %}
        {% set age = dbt.age_of(dbt.table_state(this), checkpoint.table_version) %}
        {% if age is not none and (newest.age is none or age < newest.age) %}
            {% set newest.checkpoint, newest.age = checkpoint, age %}
        {% endif %}
    {% endfor %}
    {{ return(newest.checkpoint) }}
{% endmacro %}
