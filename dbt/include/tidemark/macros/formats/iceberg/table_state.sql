{# A table that was never written has no snapshot: its version is 0. #}
{% macro iceberg_table_state(relation) %}
    {% set properties = {} %}
    {% for row in run_query('show tblproperties ' ~ relation) %}
        {% do properties.update({row['key']: row['value']}) %}
    {% endfor %}
    {% set commits = dbt.iceberg_commits(relation) %}
    {% set newest = commits[0] if commits else {'version': 0} %}
    {{ return({
        'id': 'iceberg',
        'version': newest.version,
        'commits': commits,
        'files': newest.total_files or 0,
        'bytes': newest.total_bytes or 0,
        'properties': properties
    }) }}
{% endmacro %}

{# The number of snapshots after one of its ancestors; none for a snapshot that is not an ancestor. #}
{% macro iceberg_age(now, version) %}
    {% for commit in now.commits if commit.version == version %}
        {{ return(now.commits.index(commit)) }}
    {% endfor %}
    {{ return(now.commits | length if version == 0 and dbt.has_first(now.commits) else none) }}
{% endmacro %}

{# True if these snapshots go back to the table's first one, so none has expired. #}
{% macro has_first(commits) %}
    {{ return(not commits or commits[-1].parent == 0) }}
{% endmacro %}
