{# What the model wrote, where dbt prints it and in the node's adapter_response. #}
{% macro say_written(inserted=0, updated=0, deleted=0) %}
    {% set total = inserted + updated + deleted %}
    {% set words = [] %}
    {% for count, word in [(inserted, 'inserted'), (updated, 'updated'), (deleted, 'deleted')] if count %}
        {% do words.append('{:,} '.format(count) ~ word) %}
    {% endfor %}
    {% do store_raw_result('main', message=words | join(', ') or 'no change', code='WROTE' if total else 'UNCHANGED', rows_affected=total) %}
{% endmacro %}
