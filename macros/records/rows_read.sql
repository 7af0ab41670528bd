{# How many rows, bytes and files a window covers, from the source's own metrics; read whole, the table's. #}
{% macro read_metrics(relation, window) %}
    {% set total = {'rows': 0, 'bytes': 0, 'files': 0} %}
    {% if window.last is none or window.state == 'nothing new' %}
        {{ return(dict(total, rows=none) if window.last is none else total) }}
    {% elif window.state != 'incremental' %}
        {% set now = tidemark.table_state(relation) %}
        {% set rows = run_query('select count(*) as rows from ' ~ tidemark.as_of(relation, window.last)).rows[0]['rows'] | int %}
        {{ return({'rows': rows, 'bytes': now.bytes, 'files': now.files}) }}
    {% endif %}
    {% for commit in tidemark.commits_of(relation, window) %}
        {% for name in total %}
            {% do total.update({name: total[name] + commit[name]}) %}
        {% endfor %}
    {% endfor %}
    {{ return(total) }}
{% endmacro %}
