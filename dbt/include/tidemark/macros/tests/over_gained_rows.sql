{# A test's query over the rows that its table gained since it passed; empty if it needs the other rows, or reads few rows already.
   One table has changed, and the query looks at each of its rows by itself: tidemark/engine/incremental/row_by_row.py. #}
{% macro tidemark__over_gained_rows(test, sql) %}
    {% set settings = test.config %}
    {% if dbt.tidemark__reads_more(test) or dbt.tidemark__looks_at_rows(test) or dbt.tidemark__reads_changes(test)
        or (settings.warn_if, settings.error_if, settings.fail_calc) != ('!= 0', '!= 0', 'count(*)') or settings.limit %}
        {{ return('') }}
    {% endif %}
    {% set gained, sizes = {}, [] %}
    {% set others = {} %}
    {% for below in dbt.tidemark__dependencies(test) %}
        {% set relation = dbt.tidemark__relation_of(below) %}
        {% set window = dbt.tidemark__tested_window(relation) if dbt.tidemark__has_versions(relation) else {'state': 'whole'} %}
        {% if window.state == 'nothing new' %}
            {% do others.update({dbt.tidemark__table_name(relation) | lower: dbt.tidemark__as_of(relation, window.last)}) %}
        {% elif window.state == 'incremental' and not gained %}
            {% do gained.update({dbt.tidemark__table_name(relation) | lower: dbt.tidemark__gained_rows(relation)}) %}
            {% do sizes.append(adapter.table_state(relation).bytes) %}
        {% else %}
            {{ return('') }}
        {% endif %}
    {% endfor %}
    {% set fewer = adapter.over_gained_rows(sql, gained, others, sizes[0]) if gained else "" %}
    {% if fewer %}
        {% do log(test.name ~ " reads the rows that " ~ (gained | first) ~ " gained") %}
    {% endif %}
    {{ return(fewer) }}
{% endmacro %}

{# True for dbt's and the engine's tests that ask for changes themselves. #}
{% macro tidemark__reads_changes(test) %}
    {% set name = test.test_metadata.name if test.test_metadata else none %}
    {{ return(name in ('unique', 'unique_key', 'same_total', 'contiguous_history') and dbt.tidemark__is_built_in(test)) }}
{% endmacro %}
