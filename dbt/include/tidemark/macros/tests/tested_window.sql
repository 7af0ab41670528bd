{# What a test reads of one table: the versions since it last passed, or the whole table. Kept like the windows of models, so
   that moved_checkpoints moves the checkpoint if the test passes. `test` is given for another test than the running one. #}
{% macro tidemark__tested_window(relation, version=none, test=none) %}
    {% set unique_id = (test or model).unique_id %}
    {% set windows = dbt.tidemark__run_state('windows').setdefault(unique_id, {}) %}
    {% set source = dbt.tidemark__table_name(relation) %}
    {% if source in windows %}
        {{ return(windows[source]) }}
    {% elif not dbt.tidemark__has_versions(relation) %}
        {{ return({'source': source, 'state': 'whole', 'after': none, 'last': none, 'message': 'whole'}) }}
    {% endif %}
    {% set past = dbt.tidemark__past_version(relation) %}
    {% if past is not none %}
        {{ return({'source': source, 'state': 'whole', 'after': none, 'last': past if version is none else version}) }}
    {% endif %}
    {% set full = var('full_tests', false) or should_full_refresh() %}
    {% set last = adapter.table_state(relation).version if version is none else version %}
    {% set window = adapter.tested_window(relation, last, dbt.tidemark__checkpoint(unique_id, source), dbt.tidemark__contract_of(unique_id), full) %}
    {% do windows.update({source: window}) %}
    {{ return(window) }}
{% endmacro %}

{# True if something other than its tables can change the outcome of a test. `meta.reads` overrides this. #}
{% macro tidemark__reads_more(node) %}
    {% set reads = node.config.get('meta', {}).get('reads') %}
    {% if reads not in (none, 'always', 'gained', 'touched') %}
        {% do exceptions.raise_compiler_error(
            node.name ~ ': reads is ' ~ reads ~ '. Set it to always, touched or gained, or leave it out.'
        ) %}
    {% endif %}
    {{ return(reads == 'always' or reads is none and dbt.tidemark__code_of(node.unique_id).unsettled is not none) }}
{% endmacro %}

{% macro tidemark__has_versions(relation) %}
    {% if dbt.tidemark__is_given(relation) %}
        {{ return(false) }}
    {% endif %}
    {% set found = load_relation(relation) %}
    {% if found is none or found.is_view or found.is_delta or found.is_iceberg %}
        {{ return(found is not none and not found.is_view) }}
    {% endif %}
    {# a table that was created in this command is in dbt's cache without its format #}
    {% for node in graph.nodes.values() if node.schema == relation.schema and node.get('alias') == relation.identifier
        and dbt.tidemark__is_of_lake(node) %}
        {{ return(true) }}
    {% endfor %}
    {{ return(false) }}
{% endmacro %}

{# The rows that a table gained since the test last passed and still has. A test that checks each row by itself needs no others. #}
{% macro tidemark__gained_rows(relation) %}
    {% set window = dbt.tidemark__tested_window(relation) %}
    {% if window.state == 'whole' %}
        {{ return('(select * from ' ~ dbt.tidemark__as_of(relation, window.last) ~ ')') }}
    {% elif window.state == 'nothing new' %}
        {{ return('(select * from ' ~ relation ~ ' where false)') }}
    {% elif adapter.commits_between(relation, window.after, window.last) | length == 1 %}
        {{ return(dbt.tidemark__change_rows(relation, window, only_after=true)) }}
    {% endif %}
    {# several commits: rows that were added and removed in between do not count #}
    {% set columns = dbt.tidemark__quoted(dbt.tidemark__columns_of(relation) | list) %}
    {{ return(
        '(select ' ~ columns ~ ' from ' ~ dbt.tidemark__change_rows(relation, window) ~ ' group by ' ~ columns
        ~ ' having sum(' ~ dbt.tidemark__change_sign() ~ ') > 0)'
    ) }}
{% endmacro %}
