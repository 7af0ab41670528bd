{# Merges newest-wins by null-safe keys. Rows that would change nothing are dropped first: a MERGE that
   matches them rewrites their files even when no clause applies. #}
{% macro merge_into(relation, query) %}
    {% set keys = tidemark.as_list(config.get('unique_key')) %}
    {% set newest_by = tidemark.as_list(config.get('meta', {}).get('newest_by')) %}
    {% set values = query.columns | reject('in', keys) | list %}
    {% set same_key = tidemark.null_safe_equal('incoming', 'present', keys) %}
    {% set merge_sql %}
        merge into {{ relation }} as present
        using (
            select incoming.*
            from ({{ query.sql }}) as incoming
            left join (select *, true as _is_present from {{ relation }}) as present
                on {{ same_key }}
            where
                {% if query.flags_deletes %}
                if(incoming._is_deleted, present._is_present,
                {% endif %}
                present._is_present is null
                {% if values %}
                or (
                    not ({{ tidemark.null_safe_equal('incoming', 'present', values) }})
                    {% for column in newest_by %}
                    and (incoming.{{ column }} >= present.{{ column }} or present.{{ column }} is null)
                    {% endfor %}
                )
                {% endif %}
                {{ ')' if query.flags_deletes }}
        ) as incoming
        on {{ same_key }}
        {% if query.flags_deletes %}
        when matched and incoming._is_deleted then delete
        {% endif %}
        {% if values %}
        when matched then update set
            {% for column in values %}{{ column }} = incoming.{{ column }}{{ ', ' if not loop.last }}{% endfor %}
        {% endif %}
        when not matched then insert ({{ query.columns | join(', ') }})
            values (incoming.{{ query.columns | join(', incoming.') }})
    {% endset %}
    {% set counts = run_query(merge_sql).rows[0] %}
    {% do tidemark.say_written(
        inserted=counts['num_inserted_rows'] | int,
        updated=counts['num_updated_rows'] | int,
        deleted=counts['num_deleted_rows'] | int
    ) %}
{% endmacro %}
