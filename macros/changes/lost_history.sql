{# Why the changes of a source after a version cannot be read one by one, in words, or none. #}
{% macro lost_history(relation, mark, now, is_landed) %}
    {% set name = tidemark.table_name(relation) %}
    {% if mark.source_id != now.id or mark.version > now.version %}
        {{ return(name ~ ' was replaced after version ' ~ mark.version ~ ' was read') }}
    {% elif mark.version == now.version %}
        {{ return(none) }}
    {% elif now.properties.get('delta.enableChangeDataFeed') != 'true' %}
        {{ return(name ~ ' has no change data feed; `alter table ' ~ name
            ~ " set tblproperties ('delta.enableChangeDataFeed' = 'true')` switches it on") }}
    {% endif %}
    {% set commits = tidemark.commits_since(relation, mark.version) %}
    {% if commits | length < now.version - mark.version %}
        {{ return('the log of ' ~ name ~ ' no longer holds version ' ~ (mark.version + 1)) }}
    {% endif %}
    {% for commit in commits %}
        {% if commit.operation == 'SET TBLPROPERTIES' and 'delta.enableChangeDataFeed' in commit.parameters.get('properties', '') %}
            {{ return('the change data feed of ' ~ name ~ ' was switched on at version ' ~ commit.version) }}
        {% elif commit.operation == 'VACUUM START' and tidemark.is_swept(commits, commit) %}
            {{ return(name ~ ' was vacuumed at version ' ~ commit.version ~ ', past changes that were not read yet') }}
        {% elif commit.operation in ('RENAME COLUMN', 'DROP COLUMNS', 'REPLACE COLUMNS')
            or commit.operation in ('CHANGE COLUMN', 'CHANGE COLUMNS') and now.properties.get('delta.enableTypeWidening') == 'true' %}
            {{ return('the columns of ' ~ name ~ ' were changed at version ' ~ commit.version ~ ' (' ~ commit.operation ~ ')') }}
        {% elif is_landed and (commit.operation in ('MERGE', 'UPDATE') or tidemark.overwrites(commit)) %}
            {{ return(name ~ ' is append-only, but had a ' ~ commit.operation ~ ' after version ' ~ mark.version) }}
        {% endif %}
    {% endfor %}
    {{ return(none) }}
{% endmacro %}

{# True for a commit that may take rows away, other than a MERGE. #}
{% macro overwrites(commit) %}
    {{ return(commit.operation in ('DELETE', 'RESTORE', 'TRUNCATE') or commit.parameters.get('mode') == 'Overwrite') }}
{% endmacro %}

{# True when a table may hold other rows after these commits. #}
{% macro may_change_rows(commits) %}
    {% set harmless = ('OPTIMIZE', 'VACUUM START', 'VACUUM END', 'SET TBLPROPERTIES', 'CHANGE COLUMN', 'CHANGE COLUMNS') %}
    {{ return(commits | rejectattr('operation', 'in', harmless) | list != []) }}
{% endmacro %}

{# True when a VACUUM took files of a commit among these: what its retention does not keep. #}
{% macro is_swept(commits, vacuum) %}
    {% set kept = vacuum.parameters.get('specifiedRetentionMillis') or vacuum.parameters.get('defaultRetentionMillis') or 0 %}
    {% set horizon = vacuum.at - modules.datetime.timedelta(milliseconds=kept | int) %}
    {{ return(commits | selectattr('version', 'lt', vacuum.version) | selectattr('at', 'lt', horizon) | list | length > 0) }}
{% endmacro %}
