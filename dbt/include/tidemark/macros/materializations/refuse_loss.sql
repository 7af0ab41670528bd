{# Stops a run that would delete rows of a table that other writers have written to, before it writes. Rows that only runs of
   Tidemark wrote may go: a rebuild would not have them. #}
{% macro tidemark__refuse_loss(relation, query) %}
    {% set writer = dbt.tidemark__other_writer(relation) if not dbt.tidemark__is_repaired() %}
    {% if not writer %}
        {{ return('') }}
    {% endif %}
    {% set lost = dbt.tidemark__writer(relation, query).lost_rows() %}
    {% set number = lost.number %}
    {% if number %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ': ' ~ ('1 row of the table would be deleted, because the query does not return it' if number == 1
                else '{:,} rows of the table would be deleted, because the query does not return them'.format(number))
            ~ (', for example ' ~ lost.example if lost.example else '') ~ '. Nothing was written, because ' ~ writer
            ~ '. To keep such rows, write ' ~ ('' if query['keys'] else 'a unique_key and ') ~ '`meta: {accumulates: true}` in the config of '
            ~ 'the model. To delete them: `dbt run --full-refresh --select ' ~ this.identifier ~ '`.'
        ) %}
    {% endif %}
{% endmacro %}

{# Why a table may hold rows that no run wrote, as text, or none. #}
{% macro tidemark__other_writer(relation) %}
    {% set checkpoint = dbt.tidemark__facts().newest %}
    {% set now = adapter.table_state(relation) %}
    {% set is_known = checkpoint and checkpoint.table_id in (none, now.id) and now.age(checkpoint.table_version) is not none %}
    {% set commits = adapter.state_since(relation, checkpoint.table_version).since(checkpoint.table_version) if is_known
        else adapter.newest_commits(relation, now.version + 1) %}
    {% for commit in commits if commit.is_foreign and commit.operation | lower not in ('delete', 'truncate', 'restore') %}
        {{ return('another writer changed the table on ' ~ (commit.at | string)[:16] ~ ' (' ~ commit.operation ~ ')') }}
    {% endfor %}
    {% if not is_known and (not adapter.has_one_session() or not now.goes_back_to_the_start(commits)) %}
        {{ return('Tidemark has no checkpoint of the table, and its history does not tell who wrote it') }}
    {% endif %}
    {{ return(none) }}
{% endmacro %}
