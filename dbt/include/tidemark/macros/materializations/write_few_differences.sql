{# After a change of the code alone, or for a repair, writes the rows that differ, so that what reads the table reads only these; returns whether
   it did. Most rows may differ, or the columns: then the table is replaced. #}
{% macro tidemark__write_few_differences(existing, query) %}
    {% set state = dbt.tidemark__run_state('read_states').get(model.unique_id, {}).state %}
    {% set steps = adapter.decide().steps %}
    {# a key that only the new query proves says nothing of the table's rows; the others need what a new table counts or checks #}
    {% set has_other_needs = (query['keys'] and not config.get('unique_key')) or query.counts_versions or config.get('meta', {}).get('prune_by') %}
    {% if existing is none or not existing.is_table or should_full_refresh() or query.flag or has_other_needs
        or not steps.can_stay(state, dbt.tidemark__columns_of(this), query.types) or dbt.tidemark__has_other_properties(this) %}
        {{ return(false) }}
    {% endif %}
    {# rows with one key cannot be told apart, and another tool may have written them #}
    {% if query['keys'] and dbt.tidemark__repeats_keys(query['keys']) %}
        {{ return(false) }}
    {% endif %}
    {% set change = dbt.tidemark__writer(this, query).equal() %}
    {% if change.statement and not steps.are_few(change.counts, run_query('select count(*) from ' ~ this).columns[0].values()[0]) %}
        {% do dbt.tidemark__drop_views_of(change) %}
        {{ return(false) }}
    {% endif %}
    {% do dbt.tidemark__commit_change(this, change) %}
    {% do persist_docs(this, model) %}
    {% do dbt.tidemark__forget_table(this) %}
    {{ return(true) }}
{% endmacro %}

{% macro tidemark__repeats_keys(keys) %}
    {% set found = run_query('select 1 from ' ~ this ~ ' group by ' ~ dbt.tidemark__quoted(keys) ~ ' having count(*) > 1 limit 1') %}
    {{ return(found.rows | length > 0) }}
{% endmacro %}
