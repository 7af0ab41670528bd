{# Why a plainly joined table is no longer available at its checkpoint, as text, or none. #}
{% macro lost_version(relation, checkpoint) %}
    {% set now = dbt.table_state(relation) %}
    {% if checkpoint.kind != 'joined' or checkpoint.source_id != now.id or dbt.age_of(now, checkpoint.version) is none %}
        {{ return(dbt.table_name(relation) ~ ' was replaced') }}
    {% endif %}
    {{ return(none) }}
{% endmacro %}

{# Why a plainly joined table may return other rows than at the checkpoint, as text, or none. #}
{% macro lost_join(relation, checkpoint) %}
    {% set now = dbt.table_state(relation) %}
    {% set age = dbt.age_of(now, checkpoint.version) %}
    {% if checkpoint.kind == 'joined' and checkpoint.source_id == now.id and age is not none %}
        {% set commits = dbt.commits_since(relation, checkpoint.version) %}
        {% if commits | length == age and not dbt.may_change_rows(commits) %}
            {{ return(none) }}
        {% endif %}
    {% endif %}
    {{ return(dbt.table_name(relation) ~ ' changed, and is joined as it is') }}
{% endmacro %}
