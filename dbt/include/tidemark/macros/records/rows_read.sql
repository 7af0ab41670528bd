{# The number of rows, bytes and files in a window, from the source's own metrics. For a full read, those of the whole table. #}
{% macro tidemark__read_metrics(relation, window) %}
    {% set total = {'rows': 0, 'bytes': 0, 'files': 0} %}
    {% if window.last is none or window.state == 'nothing new' %}
        {{ return(dict(total, rows=none) if window.last is none else total) }}
    {% elif window.state != 'incremental' %}
        {% set now = adapter.table_state(relation) %}
        {{ return({'rows': dbt.tidemark__rows_at(relation, window.last), 'bytes': now.bytes, 'files': now.files}) }}
    {% endif %}
    {% for commit in adapter.commits_between(relation, window.after, window.last) %}
        {% for name in total %}
            {% do total.update({name: total[name] + commit[name]}) %}
        {% endfor %}
    {% endfor %}
    {{ return(total) }}
{% endmacro %}

{# The number of rows of a table at a version. If this command wrote the table in full, its commit has the number. #}
{% macro tidemark__rows_at(relation, version) %}
    {% for unique_id, written in dbt.tidemark__run_state('written').items() if written.get('is_whole') and written.version == version %}
        {% if dbt.tidemark__relation_of(graph.nodes[unique_id]) == relation %}
            {{ return(written.commit.rows) }}
        {% endif %}
    {% endfor %}
    {% set counted = dbt.tidemark__run_state('counted') %}
    {% set whole = dbt.tidemark__as_of(relation, version) %}
    {% if whole not in counted %}
        {% do counted.update({whole: run_query('select count(*) as rows from ' ~ whole).rows[0]['rows'] | int}) %}
    {% endif %}
    {{ return(counted[whole]) }}
{% endmacro %}
