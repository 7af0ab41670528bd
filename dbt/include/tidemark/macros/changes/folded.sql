{% macro folded(relation, by, measures, where='true') %}
    {% set measured = dbt.parsed_measures(measures) %}
    {% do dbt.run_state('folded').update({
        model.unique_id: measured | selectattr('function', 'equalto', 'sum') | map(attribute='name') | list
    }) %}
    {% if not execute or dbt.is_limited() or dbt.is_given(relation) %}
        {{ return(dbt.aggregated(relation, by, measured, where)) }}
    {% endif %}
    {% set window = dbt.change_window(relation) %}
    {% if window.state == 'nothing new' %}
        {{ return(dbt.aggregated(dbt.change_rows(relation, window), by, measured, where)) }}
    {% elif window.state != 'incremental' %}
        {{ return(dbt.aggregated(dbt.pinned(relation), by, measured, where)) }}
    {% endif %}
    {{ return(dbt.folded_changes(relation, window, dbt.as_list(by), measured, where)) }}
{% endmacro %}

{# The plain query, as a full rebuild runs it. #}
{% macro aggregated(rows, by, measured, where) %}
    select
        {{ dbt.quoted(by) }},
        {% for measure in measured -%}
        {{ dbt.aggregate_of(measure, measure.expression) }} as {{ dbt.quoted(measure.name) }},
        {% endfor -%}
        false as _is_deleted
    from {{ rows }}
    where {{ where }}
    group by {{ dbt.quoted(by) }}
{% endmacro %}
