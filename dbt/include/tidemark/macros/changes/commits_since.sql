{# The number of commits after a version of a table; none for a version that is not in its history. #}
{% macro age_of(now, version) %}
    {{ return(dbt.by_format('age')(now, version)) }}
{% endmacro %}

{% macro last_commit(relation) %}
    {{ return(dbt.by_format('commits')(relation, 1)[0]) }}
{% endmacro %}

{# The commits of a table after a version, newest first. They come from table_state, or are read once more if it holds too few. #}
{% macro commits_since(relation, version) %}
    {% set now = dbt.table_state(relation) %}
    {% set age = dbt.age_of(now, version) %}
    {% if age is none %}
        {{ return(now.commits) }}
    {% elif now.commits | length < age %}
        {% do now.update(commits=dbt.delta_commits(relation, age) | selectattr('version', 'le', now.version) | list) %}
    {% endif %}
    {{ return(now.commits[:age]) }}
{% endmacro %}

{# The commits that a window covers, newest first. #}
{% macro commits_of(relation, window) %}
    {% set since = dbt.commits_since(relation, window.after) %}
    {{ return(since[dbt.age_of(dbt.table_state(relation), window.last):]) }}
{% endmacro %}
