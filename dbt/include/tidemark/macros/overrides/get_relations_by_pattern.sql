{# For dbt_utils, which finds it with `dbt` in its search order (docs/packages.md). Spark has no information_schema, which its own macro reads. #}
{% macro tidemark__get_relations_by_pattern(schema_pattern, table_pattern, exclude='', database=none) %}
    {% set found = [] %}
    {% for schema, table, type in adapter.tables_like(schema_pattern, table_pattern, exclude) if execute %}
        {% do found.append(api.Relation.create(schema=schema, identifier=table, type=type)) %}
    {% endfor %}
    {{ return(found) }}
{% endmacro %}

{% macro tidemark__get_relations_by_prefix(schema_pattern, prefix, exclude='', database=none) %}
    {{ return(dbt.tidemark__get_relations_by_pattern(schema_pattern, prefix ~ '%', exclude)) }}
{% endmacro %}
