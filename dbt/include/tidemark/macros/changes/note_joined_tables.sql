{# Records the versioned tables that a model reads by a plain ref() or source(), besides changes() and watermark_filter(). If one
   changes, rows that were built with it may change too, so the model is rebuilt. #}
{% macro tidemark__note_joined_tables() %}
    {% set joined = {} %}
    {% set read = dbt.tidemark__run_state('windows').get(model.unique_id, {}) %}
    {% set is_plain = dbt.tidemark__is_plain(model) %}
    {% set relations = dbt.tidemark__joined_below(model, read) if read and not flags.EMPTY or is_plain else [] %}
    {% if is_plain %}
        {% do dbt.tidemark__read_state() %}
    {% endif %}
    {% for relation in relations %}
        {% do joined.update({dbt.tidemark__table_name(relation): adapter.joined_window(dbt.tidemark__facts(), dbt.tidemark__read_state(), relation)}) %}
    {% endfor %}
    {% do dbt.tidemark__run_state('joined').update({model.unique_id: joined}) %}
{% endmacro %}

{# Looks through views, except a view that is itself read by its changes. #}
{% macro tidemark__joined_below(node, read) %}
    {% set found = [] %}
    {% for below in dbt.tidemark__dependencies(node) %}
        {% set relation = dbt.tidemark__relation_of(below) %}
        {% set is_read = dbt.tidemark__table_name(relation) in read %}
        {% if dbt.tidemark__is_view(below) and not is_read %}
            {% do found.extend(dbt.tidemark__joined_below(below, read)) %}
        {% elif dbt.tidemark__has_versions(relation) and not is_read %}
            {% do found.append(relation) %}
        {% endif %}
    {% endfor %}
    {{ return(found) }}
{% endmacro %}
