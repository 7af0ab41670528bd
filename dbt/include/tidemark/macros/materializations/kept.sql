{# A view that Spark computes once, when the first statement of this model reads it, and then keeps. #}
{% macro kept(name, sql) %}
    {{ return(adapter.keep_once(dbt.run_state('kept'), dbt.kept_name(name), sql)) }}
{% endmacro %}

{% macro drop_kept(name) %}
    {% do dbt.run_state('kept').pop(dbt.kept_name(name), none) %}
    {% do adapter.drop_view(dbt.kept_name(name)) %}
{% endmacro %}

{# After the last node: drops changes that several nodes read, and views that a failed model left behind. #}
{% macro drop_all_kept() %}
    {% for name in dbt.run_state('kept') %}
        {% do adapter.drop_view(name) %}
    {% endfor %}
{% endmacro %}

{% macro kept_name(name) %}
    {{ return(['tidemark', this.schema, this.identifier, name, invocation_id[:8]] | join('_')) }}
{% endmacro %}
