{# A view that Spark computes once, when the first statement of this model reads it, and then keeps. #}
{% macro tidemark__cached_view(name, sql) %}
    {{ return(adapter.cache_once(dbt.tidemark__run_state('cached_views'), dbt.tidemark__cached_view_name(name), sql)) }}
{% endmacro %}

{% macro tidemark__drop_cached_view(name) %}
    {% do dbt.tidemark__run_state('cached_views').pop(dbt.tidemark__cached_view_name(name), none) %}
    {% do adapter.drop_view(dbt.tidemark__cached_view_name(name)) %}
{% endmacro %}

{# After the last node: drops changes that several nodes read, and views that a failed model left behind. #}
{% macro tidemark__drop_cached_views() %}
    {% for name in dbt.tidemark__run_state('cached_views') %}
        {% do adapter.drop_view(name) %}
    {% endfor %}
{% endmacro %}

{% macro tidemark__cached_view_name(name) %}
    {{ return(['tidemark', this.schema, this.identifier, name, invocation_id[:8]] | join('_')) }}
{% endmacro %}
