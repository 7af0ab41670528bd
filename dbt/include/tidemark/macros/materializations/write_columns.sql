{# Adds columns that the table does not have, writes the values that differ, and sets the contract's new constraints. #}
{% macro write_columns(relation, query, present, named, counts, outcomes) %}
    {% set added = [] %}
    {% for column in named if column not in present %}
        {% do added.append(dbt.quoted(column) ~ ' ' ~ query.types[column]) %}
    {% endfor %}
    {% if added %}
        {% do run_query('alter table ' ~ relation ~ ' add columns (' ~ added | join(', ') ~ ')') %}
        {% do dbt.forget_table(relation) %}
    {% endif %}
    {% if counts.updated %}
        {% set merge_sql %}
            merge into {{ relation }} as present
            using (
                select * from {{ outcomes }}
                where __tidemark_outcome = 'updated' {{ dbt.and_rows_hold(query, "__tidemark_outcome != 'updated'") }}
            ) as incoming
            on {{ dbt.null_safe_equal('incoming', 'present', query['keys']) }}
            when matched then update set
                {% for column in named -%}
                {{ dbt.quoted(column) }} = incoming.{{ dbt.quoted(column) }}{{ ', ' if not loop.last }}
                {%- endfor %}
        {% endset %}
        {% do run_query(merge_sql) %}
        {% do counts.update(commit=adapter.note_commit(relation)) %}
    {% endif %}
    {% if var('rebuild_where', none) %}
        {# other rows may be without their values: the next command has to look at all of them #}
        {% do dbt.run_state('partly').update({model.unique_id: true}) %}
    {% else %}
        {% do dbt.by_format('add_guards')(relation, dbt.table_properties(model)) %}
    {% endif %}
    {% do dbt.report_written(counts) %}
    {% do dbt.forget_table(relation) %}
{% endmacro %}

{# Each row of the query and of the table by key: `updated` if a named column differs, `other` if it differs otherwise or one side
   does not have it. #}
{% macro outcomes_of_columns(relation, query, present, named) %}
    {% set within = var('rebuild_where', none) %}
    {% set others = query['values'] | reject('in', named) | list %}
    select
        {{ dbt.quoted(query.columns, 'incoming.') }},
        case
            when incoming.__tidemark_is_incoming is null or present.__tidemark_is_present is null then 'other'
            {% if others -%}
            when not ({{ dbt.same_values('incoming', 'present', others, query.types) }}) then 'other'
            {% endif -%}
            when {{ dbt.same_values('incoming', 'present', named, query.types) }} then 'unchanged'
            else 'updated'
        end as __tidemark_outcome
    from (
        select *, true as __tidemark_is_incoming from ({{ dbt.once_a_key(query) }})
        where {{ 'not ' ~ query.flag if query.flag else 'true' }} {{ 'and (' ~ within ~ ')' if within }}
    ) as incoming
    full outer join (
        select
            *, true as __tidemark_is_present
            {% for column in named if column not in present -%}
            , cast(null as {{ query.types[column] }}) as {{ dbt.quoted(column) }}
            {%- endfor %}
        from {{ dbt.at_current_version(relation) }} {{ 'where ' ~ within if within }}
    ) as present
        on {{ dbt.null_safe_equal('incoming', 'present', query['keys']) }}
{% endmacro %}
