{# The dates of the variables rebuild_from and rebuild_to, both included, or none. Such a run replays these dates from the sources. #}
{% macro tidemark__rebuilt_range() %}
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
{% macro tidemark__rebuild_range(relation, query) %}
    {% set bounds = dbt.tidemark__rebuilt_range() %}
    {% if dbt.tidemark__way_of(model).accumulates %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ': dates cannot be rebuilt, because the model keeps rows that its sources no longer have (accumulates, full_refresh: false).'
        ) %}
    {% endif %}
    {% if adapter.decide().losses.is_doubtful(dbt.tidemark__facts()) %}
        {# other dates may be wrong, too: the checkpoint of the table stays, so that the next run finds that out #}
        {% do dbt.tidemark__run_state('doubted').update({model.unique_id: true}) %}
    {% endif %}
    {% set partition = adapter.columns_named(dbt.tidemark__as_list(config.get('partition_by')), query.columns) | first %}
    {% if not partition or query.types.get(partition) != 'date' %}
        {% if dbt.tidemark__writer(relation, query).differs() %}
            {% do dbt.tidemark__create_from(relation, query) %}
        {% else %}
            {% do dbt.tidemark__report_written({}) %}
        {% endif %}
        {{ return('') }}
    {% endif %}
    {% do dbt.tidemark__commit_change(relation, dbt.tidemark__writer(relation, query).replaced_dates(*bounds)) %}
{% endmacro %}
