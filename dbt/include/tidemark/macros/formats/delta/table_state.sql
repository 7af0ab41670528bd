{% macro delta_table_state(relation) %}
    {% set log = adapter.delta_log(dbt.table_name(relation)) %}
    {% if log %}
        {{ return(dict(log.state(), commits=[])) }}  {# commits_since() reads as many as are asked for #}
    {% endif %}
    {% set detail = run_query('describe detail ' ~ relation).rows[0] %}
    {% set commits = dbt.delta_commits(relation, 1) %}  {# each is a file to read; commits_since() reads more if asked for #}
    {{ return({
        'id': detail['id'],
        'version': commits[0].version,
        'commits': commits,
        'files': detail['numFiles'] | int,
        'bytes': detail['sizeInBytes'] | int,
        'properties': adapter.map_of(detail['properties'])
    }) }}
{% endmacro %}

{# The number of commits after a version; none for a version that the table does not have. #}
{% macro delta_age(now, version) %}
    {{ return(now.version - version if version <= now.version else none) }}
{% endmacro %}

{# True if these commits, newest first, go back to the table's first one. #}
{% macro delta_goes_back_to_the_start(commits) %}
    {{ return(commits != [] and commits[-1].version == 0) }}
{% endmacro %}
