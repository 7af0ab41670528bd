{# Why a test passes, if this is known without running its query, as text; or none. #}
{% macro tidemark__why_it_passes(test) %}
    {% if test.unique_id in dbt.tidemark__run_state('unsettled') or dbt.tidemark__reads_more(test) %}
        {{ return(none) }}
    {% endif %}
    {% set states = [] %}
    {% for below in dbt.tidemark__dependencies(test) %}
        {% set relation = dbt.tidemark__relation_of(below) %}
        {% if not dbt.tidemark__has_versions(relation) %}
            {{ return(none) }}
        {% endif %}
        {% do states.append(dbt.tidemark__tested_window(relation).state) %}
    {% endfor %}
    {% if states | unique | list == ['nothing new'] %}
        {{ return('unchanged since it passed') }}
    {% endif %}
    {% set proof = none if var('full_tests', false) else dbt.tidemark__proof_of(test) %}
    {{ return(proof or dbt.tidemark__seen_with_others(test)) }}
{% endmacro %}

{# What keeps failing rows of this test out of the table, as text; or none. #}
{% macro tidemark__proof_of(test) %}
    {% set tables = dbt.tidemark__dependencies(test) %}
    {% set name = test.test_metadata.name if test.test_metadata else none %}
    {% if name not in ('not_null', 'unique', 'unique_key') or tables | length != 1 or not dbt.tidemark__is_built_in(test) %}
        {{ return(none) }}
    {% endif %}
    {% set relation = dbt.tidemark__relation_of(tables[0]) %}
    {% if name == 'not_null' %}
        {% if test.test_metadata.kwargs.column_name ~ ' is not null' in dbt.tidemark__by_format('enforced')(adapter.table_state(relation).properties) %}
            {{ return('a constraint of the table') }}
        {% endif %}
    {% elif not test.config.get('where') and dbt.tidemark__covers_the_key(test, tables[0].config)
        and dbt.tidemark__was_written_once_a_key(tables[0], relation) %}
        {{ return('written once a key') }}
    {% endif %}
    {{ return(none) }}
{% endmacro %}

{# True if everything since the test last passed is one commit of this command, which wrote no key twice. #}
{% macro tidemark__was_written_once_a_key(node, relation) %}
    {% set written = dbt.tidemark__run_state('written').get(node.unique_id, {}) %}
    {% set window = dbt.tidemark__tested_window(relation) %}
    {% if not written.get('once_a_key') or window.last != written.version %}
        {{ return(false) }}
    {% endif %}
    {{ return(
        written.get('is_whole', false)
        or window.state == 'incremental' and adapter.commits_between(relation, window.after, window.last) | length == 1
    ) }}
{% endmacro %}

{# True if a test of uniqueness looks at all columns of a model's `unique_key`. #}
{% macro tidemark__covers_the_key(test, settings) %}
    {% set asked = test.test_metadata.kwargs %}
    {% set keys = dbt.tidemark__as_list(settings.get('unique_key')) %}
    {{ return(keys != [] and keys | reject('in', dbt.tidemark__as_list(asked.columns or asked.column_name)) | list == []) }}
{% endmacro %}
