{% macro delta_words_of_loss(name, checkpoint) %}
    {{ return(name ~ ' was replaced after version ' ~ checkpoint.version ~ ' was read') }}
{% endmacro %}

{# Why the change data feed does not hold everything after a version, as text, or none. #}
{% macro delta_lost_history(relation, checkpoint, now, is_landed) %}
    {% set name = dbt.table_name(relation) %}
    {% if now.properties.get('delta.enableChangeDataFeed') != 'true' %}
        {{ return(name ~ ' has no change data feed; `alter table ' ~ name
            ~ " set tblproperties ('delta.enableChangeDataFeed' = 'true')` switches it on") }}
    {% endif %}
    {% set commits = dbt.commits_since(relation, checkpoint.version) %}
    {% if commits | length < now.version - checkpoint.version %}
        {{ return('the log of ' ~ name ~ ' no longer has version ' ~ (checkpoint.version + 1)) }}
    {% endif %}
    {% for commit in commits %}
        {% if commit.operation == 'SET TBLPROPERTIES' and 'delta.enableChangeDataFeed' in commit.parameters.get('properties', '') %}
            {{ return('the change data feed of ' ~ name ~ ' was enabled at version ' ~ commit.version) }}
        {% elif commit.operation == 'VACUUM START' and dbt.delta_is_swept(commits, commit) %}
            {{ return(name ~ ' was vacuumed at version ' ~ commit.version ~ ' before its changes were read') }}
        {% elif commit.operation in ('RENAME COLUMN', 'DROP COLUMNS', 'REPLACE COLUMNS')
            or commit.operation in ('CHANGE COLUMN', 'CHANGE COLUMNS') and now.properties.get('delta.enableTypeWidening') == 'true' %}
            {{ return('the columns of ' ~ name ~ ' were changed at version ' ~ commit.version ~ ' (' ~ commit.operation ~ ')') }}
        {% elif is_landed and (commit.operation in ('MERGE', 'UPDATE') or dbt.delta_overwrites(commit)) %}
            {{ return(name ~ ' is append-only, but had a ' ~ commit.operation ~ ' after version ' ~ checkpoint.version) }}
        {% endif %}
    {% endfor %}
    {{ return(none) }}
{% endmacro %}

{# True if a VACUUM deleted files of one of these commits, because the commit is older than its retention. #}
{% macro delta_is_swept(commits, vacuum) %}
    {% set retention = vacuum.parameters.get('specifiedRetentionMillis') or vacuum.parameters.get('defaultRetentionMillis') or 0 %}
    {% set horizon = vacuum.at - modules.datetime.timedelta(milliseconds=retention | int) %}
    {% set with_rows = commits | rejectattr('keeps_rows') %}
    {{ return(with_rows | selectattr('version', 'lt', vacuum.version) | selectattr('at', 'lt', horizon) | list | length > 0) }}
{% endmacro %}
