{# Rows of appends are read from their files. For rewritten files, the changelog lists each of their rows as removed and
   added again: equal rows cancel out, and the rest is the change. #}
{% macro tidemark__iceberg_change_rows(relation, window, message, only_after) %}
    {% set range = ' with (`start-snapshot-id` = ' ~ window.after ~ ', `end-snapshot-id` = ' ~ window.last ~ ') ' %}
    {% set when = 'cast(null as bigint) as _commit_version, cast(null as timestamp) as _commit_timestamp' %}
    {% if window.after == 0 or dbt.tidemark__only_adds(relation, window) %}
        {% set rows = dbt.tidemark__as_of(relation, window.last) ~ ' ' if window.after == 0 else relation ~ range %}
        {{ return('(select *, \'insert\' as _change_type, ' ~ when ~ ' from ' ~ rows ~ message ~ ')') }}
    {% endif %}
    {% set types = dbt.tidemark__columns_of(relation) %}
    {{ return(
        '(select * except (__tidemark_net, __tidemark_copy), if(__tidemark_net > 0, \'insert\', \'delete\') as _change_type, ' ~ when ~ ' from ('
        ~ 'select ' ~ adapter.any_of_equal(types) ~ ', sum(if(_change_type = \'INSERT\', 1, -1)) as __tidemark_net '
        ~ 'from ' ~ relation ~ '.changes' ~ range ~ message ~ ' group by ' ~ adapter.grouped_values(types)
        ~ ' having __tidemark_net ' ~ ('> 0' if only_after else '!= 0')
        ~ ') lateral view explode(sequence(1, abs(__tidemark_net))) as __tidemark_copy)'
    ) }}
{% endmacro %}

{% macro tidemark__only_adds(relation, window) %}
    {{ return(adapter.commits_between(relation, window.after, window.last) | rejectattr('keeps_rows') | rejectattr('adds_rows') | list == []) }}
{% endmacro %}

{# A snapshot does not say whether rows were deleted or rewritten. Rows were deleted if a key of the model has fewer rows than before. #}
{% macro tidemark__iceberg_deleted_in(relation, window) %}
    {% set keys = dbt.tidemark__as_list(dbt.tidemark__model_of(relation).get('config', {}).get('unique_key')) %}
    {% if dbt.tidemark__only_adds(relation, window) or not keys %}
        {{ return(none) }}
    {% endif %}
    {% set went = run_query(
        'select 1 as one from ' ~ dbt.tidemark__change_rows(relation, window) ~ ' group by ' ~ dbt.tidemark__quoted(keys)
        ~ ' having sum(' ~ dbt.tidemark__change_sign() ~ ') < 0 limit 1'
    ).rows | length %}
    {{ return(window.message if went else none) }}
{% endmacro %}
