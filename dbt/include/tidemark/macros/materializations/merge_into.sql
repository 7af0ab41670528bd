{# Merges newest-wins by null-safe keys. Rows that would change nothing are dropped first: a MERGE that matches them rewrites
   their files even if no clause applies. #}
{% macro merge_into(relation, query) %}
    {% set prunes = config.get('meta', {}).get('prune_by') and not query.region %}
    {% if prunes %}
        {% do dbt.declared_pruning(query) %}  {# refused before anything is computed #}
    {% endif %}
    {% set batch = dbt.cached_view('batch', dbt.once_a_key(query)) if prunes else '(' ~ dbt.once_a_key(query) ~ ')' %}
    {% set pruning = dbt.pruned_by(query, batch) %}
    {% set outcomes = dbt.cached_view(
        'outcomes', dbt.outcomes_in_region(relation, query, batch) if query.region else dbt.outcomes_of(relation, query, batch, pruning)
    ) %}
    {% set counts = dbt.counted(outcomes, query) %}
    {% do dbt.check_cost() %}
    {% if counts.inserted or counts.updated or counts.deleted %}
        {% do dbt.audit_merge(relation, query, outcomes) %}
        {% set merge_sql %}
            {% set changing %}
            select * from {{ outcomes }}
            where __tidemark_outcome in ('inserted', 'updated', 'deleted') {{ dbt.and_rows_hold(query, "__tidemark_outcome = 'deleted'") }}
            {% endset %}
            {% if adapter.is_embedded() and not counts.updated and not counts.deleted %}
            {# no other process writes here, so rows that are not in the table now cannot appear later #}
            insert into {{ relation }} ({{ dbt.quoted(query.columns) }})
            select {{ dbt.quoted(query.columns) }} from ({{ changing }})
            {% else %}
            merge into {{ relation }} as present
            using ({{ changing }}) as incoming
            on {{ dbt.null_safe_equal('incoming', 'present', query['keys']) }} {{ pruning.predicate }}
            {% if counts.deleted %}
            when matched and incoming.__tidemark_outcome = 'deleted' then delete
            {% endif %}
            {% if counts.updated %}
            when matched then update set
                {% for column in query['values'] -%}
                {{ dbt.quoted(column) }} = incoming.{{ dbt.quoted(column) }}{{ ', ' if not loop.last }}
                {%- endfor %}
            {% endif %}
            {% if counts.inserted %}
            when not matched then insert ({{ dbt.quoted(query.columns) }})
                values ({{ dbt.quoted(query.columns, 'incoming.') }})
            {% endif %}
            {% endif %}
        {% endset %}
        {% do write(merge_sql) %}  {# into target/run #}
        {% do run_query(merge_sql) %}
        {% do counts.update(commit=adapter.note_commit(relation), once_a_key=true) %}
    {% endif %}
    {% do dbt.drop_cached_view('outcomes') %}
    {% if prunes %}
        {% do dbt.drop_cached_view('batch') %}
    {% endif %}
    {% do dbt.report_written(counts) %}
{% endmacro %}

{# Each row of the batch with its outcome. #}
{% macro outcomes_of(relation, query, batch, pruning) %}
    {% set newest_by = query.newest_by %}
    select
        incoming.*,
        case
            {% if query.flag -%}
            when incoming.{{ query.flag }} then if(present.__tidemark_is_present, 'deleted', 'unchanged')
            {% endif -%}
            {% if query.flags_new -%}
            when incoming.__tidemark_is_new and present.__tidemark_is_present then raise_error(
                concat('{{ this.identifier }} has 2 rows of the key ', {{ dbt.shown_key(query['keys'], 'incoming.') }})
            )
            {% endif -%}
            when present.__tidemark_is_present is null then 'inserted'
            {% if query['values'] -%}
            when {{ dbt.same_values('incoming', 'present', query['values'], query.types) }} then 'unchanged'
            {% endif -%}
            {% if config.get('meta', {}).get('insert_only') and not query.is_plain -%}
            else 'superseded'
            {%- elif newest_by -%}
            when struct({{ dbt.quoted(newest_by, 'incoming.') }}) < struct({{ dbt.quoted(newest_by, 'present.') }})
                {{- ' and not incoming._is_retracted' if query.retracts }} then 'superseded'
            else 'updated'
            {%- else -%}
            else '{{ 'updated' if query['values'] else 'unchanged' }}'
            {%- endif %}
        end as __tidemark_outcome
    from {{ batch }} as incoming
    left join (
        select *, true as __tidemark_is_present from {{ dbt.at_current_version(relation) }} as present where true {{ pruning.predicate }}
    ) as present
        on {{ dbt.null_safe_equal('incoming', 'present', query['keys']) }}
{% endmacro %}

{# Each row of the batch, and each present row of its region whose key the batch does not have, with its outcome. #}
{% macro outcomes_in_region(relation, query, batch) %}
    select
        {% for column in query.columns -%}
        if(incoming.__tidemark_is_incoming, incoming.{{ dbt.quoted(column) }}, present.{{ dbt.quoted(column) }}) as {{ dbt.quoted(column) }},
        {% endfor -%}
        case
            when incoming.__tidemark_is_incoming is null then 'deleted'
            when present.__tidemark_is_present is null then 'inserted'
            {% if query['values'] -%}
            when not ({{ dbt.same_values('incoming', 'present', query['values'], query.types) }}) then 'updated'
            {% endif -%}
            else 'unchanged'
        end as __tidemark_outcome
    from (select *, true as __tidemark_is_incoming from {{ batch }}) as incoming
    full outer join (
        select present.*, true as __tidemark_is_present from {{ dbt.at_current_version(relation) }} {{ query.region.present or 'as present' }}
    ) as present
        on {{ dbt.null_safe_equal('incoming', 'present', query['keys']) }}
{% endmacro %}

{# The number of rows by outcome. Versions of a key that lost within the batch count as superseded. #}
{% macro counted(outcomes, query) %}
    {% set counts = {'inserted': 0, 'updated': 0, 'deleted': 0, 'unchanged': 0, 'superseded': 0, 'versions': none} %}
    {% set versions = 'sum(_versions)' if query.counts_versions else 'count(*)' %}
    {% set read = namespace(rows=0, versions=0) %}
    {% for row in run_query('select __tidemark_outcome, count(*) as rows, ' ~ versions ~ ' as versions from ' ~ outcomes ~ ' group by __tidemark_outcome') %}
        {% do counts.update({row['__tidemark_outcome']: row['rows'] | int}) %}
        {% set read.rows = read.rows + row['rows'] | int %}
        {% set read.versions = read.versions + row['versions'] | int %}
    {% endfor %}
    {% do counts.update(superseded=counts.superseded + read.versions - read.rows) %}
    {% if query.counts_versions %}
        {% do counts.update(versions=read.versions) %}
    {% endif %}
    {{ return(counts) }}
{% endmacro %}
