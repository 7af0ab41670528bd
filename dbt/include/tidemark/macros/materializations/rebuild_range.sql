{# The dates of the variables rebuild_from and rebuild_to, both included, or none. Such a run replays these dates from the sources. #}
{% macro rebuilt_range() %}
    {% set bounds = [var('rebuild_from', none), var('rebuild_to', none)] %}
    {% if bounds == [none, none] %}
        {{ return(none) }}
    {% endif %}
    {% for bound in bounds if not modules.re.match('^[0-9]{4}-[0-9]{2}-[0-9]{2}$', bound | string) %}
        {% do exceptions.raise_compiler_error('rebuild_from and rebuild_to must both be dates (yyyy-mm-dd), not `' ~ bound ~ '`.') %}
    {% endfor %}
    {{ return(bounds) }}
{% endmacro %}

{# Replaces the table's rows of these dates with what its sources give, as of the versions that it has read. A table that is
   not partitioned by date is replaced as a whole. What does not differ is not written. #}
{% macro rebuild_range(relation, query) %}
    {% set bounds = dbt.rebuilt_range() %}
    {% if dbt.way_of(model).accumulates %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ': dates cannot be rebuilt, because the model keeps rows that its sources no longer have (accumulates, full_refresh: false).'
        ) %}
    {% endif %}
    {% if adapter.decide().losses.is_doubtful(dbt.facts()) %}
        {# other dates may be wrong, too: the checkpoint of the table stays, so that the next run finds that out #}
        {% do dbt.run_state('doubted').update({model.unique_id: true}) %}
    {% endif %}
    {% set partition = adapter.columns_named(dbt.as_list(config.get('partition_by')), query.columns) | first %}
    {% if not partition or query.types.get(partition) != 'date' %}
        {% if dbt.differs(relation, query) %}
            {% do dbt.create_from(relation, query) %}
        {% else %}
            {% do dbt.report_written({}) %}
        {% endif %}
        {{ return('') }}
    {% endif %}
    {% set within = dbt.quoted(partition) ~ " between date '" ~ bounds[0] ~ "' and date '" ~ bounds[1] ~ "'" %}
    {% set ranged %}
        select {{ dbt.quoted(query.columns) }}, false as __tidemark_is_gone
        from ({{ query.sql }}) where {{ within }} {{ 'and not ' ~ query.flag if query.flag }}
        union all
        {# dates of which no row may be left #}
        select
            {% for column in query.columns -%}
            {{ dbt.quoted(column) if column == partition else 'cast(null as ' ~ query.types[column] ~ ') as ' ~ dbt.quoted(column) }},
            {% endfor -%}
            true as __tidemark_is_gone
        from (select distinct {{ dbt.quoted(partition) }} from {{ relation }} where {{ within }})
    {% endset %}
    {% do dbt.overwrite_partitions(relation, dict(query, sql=ranged, gone='__tidemark_is_gone')) %}
{% endmacro %}

{# True if the table differs from the query. #}
{% macro differs(relation, query) %}
    {% set columns = dbt.quoted(query.columns) %}
    {{ return(run_query(
        'select 1 as one from (select ' ~ columns ~ ', 1 as __tidemark_side from ('
        ~ query.sql ~ ')' ~ (' where not ' ~ query.flag if query.flag else '')
        ~ ' union all select ' ~ columns ~ ', -1 as __tidemark_side from ' ~ relation ~ ') group by ' ~ adapter.grouped_values(query.types)
        ~ ' having sum(__tidemark_side) != 0 limit 1'
    ).rows | length > 0) }}
{% endmacro %}
