{# A view whose rows Spark computes once, when the first of this model's statements reads them, and then keeps. #}
{% macro kept(name, sql) %}
    {{ return(adapter.keep_once(tidemark.run_state('kept'), tidemark.kept_name(name), sql)) }}
{% endmacro %}

{% macro let_go(name) %}
    {% do tidemark.run_state('kept').pop(tidemark.kept_name(name), none) %}
    {% do adapter.drop_view(tidemark.kept_name(name)) %}
{% endmacro %}

{# On-run-end: changes that several nodes have read, and what a model that failed has left. #}
{% macro let_all_go() %}
    {% for name in tidemark.run_state('kept') %}
        {% do adapter.drop_view(name) %}
    {% endfor %}
{% endmacro %}

{% macro kept_name(name) %}
    {{ return(['tidemark', this.schema, this.identifier, name, invocation_id[:8]] | join('_')) }}
{% endmacro %}

{# A table at its present version: without the version, Spark computes what is kept from it anew when it is written. #}
{% macro as_it_is(relation) %}
    {{ return(tidemark.as_of(relation, tidemark.table_state(relation).version)) }}
{% endmacro %}
