{# `delta` or `iceberg`, as the target in profiles.yml says. #}
{% macro tidemark__table_format() %}
    {{ return(adapter.table_format()) }}
{% endmacro %}

{# True for a node whose table has the lake's format: what the engine writes itself, else as its `file_format` says. #}
{% macro tidemark__is_of_lake(node) %}
    {% set made_by = node.config.get('materialized') %}
    {{ return(
        made_by == 'seed'
        or made_by == 'incremental' and (
            node.config.get('file_format') in (none, dbt.tidemark__table_format()) or not dbt.tidemark__way_of(node).is_stock
        )
        or made_by in ('snapshot', 'table') and node.config.get('file_format') == dbt.tidemark__table_format()
    ) }}
{% endmacro %}

{# The macro `tidemark__delta_<name>` or `tidemark__iceberg_<name>`, depending on the lake's format. #}
{% macro tidemark__by_format(name) %}
    {{ return(context['dbt']['tidemark__' ~ dbt.tidemark__table_format() ~ '_' ~ name]) }}
{% endmacro %}
