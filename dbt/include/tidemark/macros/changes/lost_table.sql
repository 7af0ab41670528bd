{# The id and version of the model's table to store with its checkpoints: what this run wrote or saw, else the previous values. #}
{% macro table_after(node, relation, checkpoint) %}
    {% set tables = dbt.run_state('tables') %}
    {% set name = dbt.table_name(relation) %}
    {% set written = dbt.run_state('written').get(node.unique_id, {}).get('version') %}
    {% if written is not none and written is not undefined and name not in tables %}
        {% do dbt.table_state(relation) %}
    {% endif %}
    {% set seen = tables.get(name, {}) %}
    {% set before = {'id': checkpoint.table_id, 'version': checkpoint.table_version} if checkpoint else {'id': none, 'version': none} %}
    {% if node.unique_id in dbt.run_state('doubted') %}
        {{ return({'id': before.id, 'version': before.version}) }}
    {% endif %}
    {% set versions = [written, seen.version, before.version] | reject('undefined') | reject('none') | list %}
    {{ return({'id': seen.id or before.id, 'version': versions | first if versions else none}) }}
{% endmacro %}

{# The table that the model's last run read in the place of one of the present sources, or none: with `--defer`, runs read the
   tables of another schema. `checkpoint` is the newest checkpoint of the present sources. #}
{% macro other_source(checkpoint) %}
    {% set name = dbt.table_name(this) %}
    {% set present = [] %}
    {% for node in dbt.tables_below(model) %}
        {% do present.append(dbt.table_name(dbt.relation_of(node))) %}
    {% endfor %}
    {% for source in dbt.checkpoints().sources_of(name) if source not in present %}
        {% if dbt.checkpoint(name, source).recorded_at >= checkpoint.recorded_at %}
            {{ return(source) }}
        {% endif %}
    {% endfor %}
    {{ return(none) }}
{% endmacro %}

{# Why the model's table is not as its runs left it, as text, or none. #}
{% macro lost_table() %}
    {% set checkpoint = dbt.newest_checkpoint() %}
    {% if not checkpoint %}
        {{ return(none) }}
    {% endif %}
    {% set name = dbt.table_name(this) %}
    {% set now = dbt.table_state(this) %}
    {% if checkpoint.table_id not in (none, now.id) or dbt.age_of(now, checkpoint.table_version) is none %}
        {{ return(name ~ ' was replaced or rolled back after its last run') }}
    {% endif %}
    {% set other = dbt.other_source(checkpoint) %}
    {% if other %}
        {{ return(name ~ ' was last built from ' ~ other) }}
    {% endif %}
    {% set has_hooks = model.config.get('pre-hook') or model.config.get('post-hook') %}
    {% set may_be_of_hook = ('delete', 'update', 'overwrite') if has_hooks and not adapter.has_one_session() else () %}
    {% for commit in dbt.commits_since(this, checkpoint.table_version) %}
        {% if commit.is_foreign and commit.operation | lower not in may_be_of_hook %}
            {{ return(name ~ ' had a ' ~ commit.operation ~ ' after its last run') }}
        {% elif commit.operation == 'CLONE' %}
            {{ return(name ~ ' was cloned after its last run') }}
        {% elif commit.tells_net_changes and not commit.keeps_rows and not has_hooks %}
            {# what came and went since then is in the table, and in no change that the next run would read #}
            {{ return(name ~ ' was written by a run that was interrupted') }}
        {% endif %}
    {% endfor %}
    {{ return(none) }}
{% endmacro %}

{# True if the model's table has another version than its checkpoint says: a run was interrupted after it wrote. #}
{% macro is_written_since_checkpoint() %}
    {% set checkpoint = dbt.newest_checkpoint() %}
    {% if not checkpoint %}
        {{ return(true) }}
    {% endif %}
    {{ return(
        dbt.age_of(dbt.table_state(this), checkpoint.table_version) is none
        or dbt.may_change_rows(dbt.commits_since(this, checkpoint.table_version))
    ) }}
{% endmacro %}
