{# For tests of sums: the changes of each table since the test last passed, with their `_sign`. If one table must be read in
   full: all rows of all tables. #}
{% macro tidemark__signed_rows(tables) %}
    {% if not execute %}
        {{ return(tables | map(attribute='relation') | list) }}
    {% endif %}
    {% set rows = [] %}
    {% if flags.EMPTY %}
        {% for table in tables %}
            {% do rows.append('(select *, 1 as _sign from ' ~ table.relation ~ ')') %}
        {% endfor %}
        {{ return(rows) }}
    {% endif %}
    {% set windows = [] %}
    {% for table in tables %}
        {% set version = dbt.tidemark__consumed_version(table.relation, table.read_by) if table.read_by else none %}
        {% do windows.append(dbt.tidemark__tested_window(table.relation, version)) %}
    {% endfor %}
    {% set whole = 'whole' in windows | map(attribute='state') | list %}
    {% for table in tables %}
        {% set window = windows[loop.index0] %}
        {% if whole %}
            {% set window = {'source': window.source, 'state': 'whole', 'after': none, 'last': window.last, 'message': 'whole'} %}
        {% endif %}
        {% do rows.append(
            '(select *, ' ~ dbt.tidemark__change_sign() ~ ' as _sign from ' ~ dbt.tidemark__change_rows(table.relation, window) ~ ')'
        ) %}
    {% endfor %}
    {{ return(rows) }}
{% endmacro %}

{# The version of a source that a model has read up to: in this command if it ran, else by its checkpoint. -1 if it has read nothing. #}
{% macro tidemark__consumed_version(relation, by) %}
    {% set by = dbt.tidemark__run_state('audited').get(by.identifier, by) %}
    {% set source = dbt.tidemark__table_name(relation) %}
    {% for window in dbt.tidemark__windows_of(dbt.tidemark__model_of(by).get('unique_id')) if window.source == source %}
        {{ return(window.last) }}
    {% endfor %}
    {% set checkpoint = dbt.tidemark__checkpoint(by, source) %}
    {{ return(checkpoint.version if checkpoint else -1) }}
{% endmacro %}
