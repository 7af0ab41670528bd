{# Recomputes the touched regions and makes the table equal to them there. #}
{% macro write_regions(relation, query, plan, readings) %}
    {% set touched = '(' ~ plan.touched(readings) ~ ')' %}
    {% if plan.columns | length > 1 %}
        {% set touched = dbt.cached_view('touched', plan.touched(readings)) %}
    {% endif %}
    {% set region = dbt.region_of(plan.columns, touched) %}
    {% if region.is_empty %}
        {% do dbt.report_written({}) %}
    {% else %}
        {% set rows = plan.recomputed(readings, region.conditions, none if region.is_exact else touched) %}
        {% set partitions = dbt.as_list(config.get('partition_by')) | map('lower') | list %}
        {% if config.get('incremental_strategy') == 'insert_overwrite' and plan.columns | list == partitions %}
            {% do dbt.overwrite_partitions(relation, dict(query, sql=dbt.with_partitions(query, rows, touched), gone='__tidemark_is_gone')) %}
        {% elif not query['keys'] %}
            {% do dbt.note_full('it has no unique_key, and its query tells none') %}
            {% do dbt.write_bag(relation, query) %}
        {% else %}
            {% do dbt.merge_into(relation, dict(query, sql=rows, is_plain=true, newest_by=[], flag=none,
                counts_versions=false, region=none if dbt.way_of(model).accumulates else region)) %}
        {% endif %}
    {% endif %}
    {% do dbt.drop_cached_view('touched') %}
{% endmacro %}

{# The touched values as conditions on `__tidemark_value`, and the part of the present table that lies in the regions. #}
{% macro region_of(columns, touched) %}
    {% set region = {'conditions': {}, 'is_exact': columns | length == 1, 'is_empty': false, 'values': none} %}
    {% set joined, predicates = [], [] %}
    {% for column in columns %}
        {% set values = dbt.values_of(column, touched) %}
        {% if not values.number %}
            {% do region.update(is_empty=true) %}
        {% elif values.each is none %}
            {% do region.update(is_exact=false) %}
        {% endif %}
        {% do region.conditions.update({column: dbt.in_values('`__tidemark_value`', values)}) %}
        {% do predicates.append(dbt.in_values('present.' ~ dbt.quoted(column), values)) %}
        {% do region.update(values=values if loop.first else region['values']) %}
    {% endfor %}
    {% set semi = '' if region.is_exact else ' left semi join ' ~ touched ~ ' as touched on ' ~ dbt.null_safe_equal('present', 'touched', columns) %}
    {% do region.update(predicate=predicates | join(' and '), present='as present' ~ semi ~ ' where ' ~ predicates | join(' and ')) %}
    {{ return(region) }}
{% endmacro %}

{# The rows, and for each touched partition a row that says that it may have no rows left. #}
{% macro with_partitions(query, rows, touched) %}
    {% set partition = adapter.columns_named(dbt.as_list(config.get('partition_by')), query.columns)[0] %}
    select {{ dbt.quoted(query.columns) }}, false as __tidemark_is_gone from ({{ rows }})
    union all
    select
        {% for column in query.columns -%}
        {{ dbt.quoted(column) if column | lower == partition | lower else 'cast(null as ' ~ query.types[column] ~ ') as ' ~ dbt.quoted(column) }},
        {% endfor -%}
        true as __tidemark_is_gone
    from {{ touched }}
{% endmacro %}
