{# Stops a model that has a setting which it cannot follow, before anything runs: tidemark/engine/adapter/model_settings.py. #}
{% macro tidemark__check_settings() %}
    {% if model.language == 'python' %}
        {% do exceptions.raise_compiler_error(
            model.original_file_path ~ ': an incremental model is SQL, from which a run learns how to read what changed. Write it in SQL.'
        ) %}
    {% endif %}
    {% set refused = adapter.refused_settings(model.config, dbt.tidemark__way_of(model)) %}
    {% if refused %}
        {% do exceptions.raise_compiler_error(model.original_file_path ~ ': ' ~ refused | join('\n  ')) %}
    {% endif %}
{% endmacro %}

{# Creates the temporary functions and views of `sql_header`, which the model's query may use. #}
{% macro tidemark__run_sql_header() %}
    {% for statement in adapter.header_statements(config.get('sql_header')) %}
        {% do run_query(statement) %}
    {% endfor %}
{% endmacro %}

{# dbt-spark's grants, for a server that has an authorizer. #}
{% macro tidemark__grant_as_set(relation, existing) %}
    {% set grants = config.get('grants') %}
    {% if grants %}
        {% do apply_grants(relation, grants, should_revoke(existing, full_refresh_mode=should_full_refresh())) %}
    {% endif %}
{% endmacro %}
