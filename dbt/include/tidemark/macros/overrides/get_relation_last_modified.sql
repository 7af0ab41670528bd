{# For `dbt source freshness` of a source without `loaded_at_field`: the time of the newest commit that may have changed rows. #}
{% macro tidemark__get_relation_last_modified(information_schema, relations) %}
    {% set rows, now = [], modules.datetime.datetime.now(modules.pytz.utc).isoformat() %}
    {% for relation in relations %}
        {% if not dbt.tidemark__has_versions(relation) or not adapter.is_there(relation) %}
            {% do exceptions.raise_compiler_error(
                dbt.tidemark__table_name(relation) ~ ' is not a table of the lake, so no commit tells when it changed. Set loaded_at_field or '
                ~ 'loaded_at_query of the source, or `freshness: null`.'
            ) %}
        {% endif %}
        {% set newest = adapter.newest_commits(relation, 20) | rejectattr('keeps_rows') | list %}
        {% set commits = newest or adapter.newest_commits(relation, 1000) | rejectattr('keeps_rows') | list %}
        {% do rows.append("select '" ~ relation.schema ~ "' as schema, '" ~ relation.identifier ~ "' as identifier, "
            ~ ("timestamp '" ~ commits[0].at ~ "'" if commits else 'cast(null as timestamp)')
            ~ " as last_modified, timestamp '" ~ now ~ "' as snapshotted_at") %}
    {% endfor %}
    {% call statement('last_modified', fetch_result=True) %}
        {{ rows | join(' union all ') }}
    {% endcall %}
    {{ return(load_result('last_modified')) }}
{% endmacro %}
