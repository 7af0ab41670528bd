{# A view whose rows Spark computes once, when the first of this model's statements reads them, and then keeps. #}
{% macro kept(name, sql) %}
    {% do run_query('cache lazy table ' ~ tidemark.kept_name(name) ~ ' as ' ~ sql) %}
    {{ return(tidemark.kept_name(name)) }}
{% endmacro %}

{% macro let_go(name) %}
    {% do adapter.drop_view(tidemark.kept_name(name)) %}
{% endmacro %}

{% macro kept_name(name) %}
    {{ return(['tidemark', this.schema, this.identifier, name, invocation_id[:8]] | join('_')) }}
{% endmacro %}

{# A table at its present version: without the version, Spark computes what is kept from it anew when it is written. #}
{% macro as_it_is(relation) %}
    {{ return(tidemark.as_of(relation, tidemark.table_state(relation).version)) }}
{% endmacro %}
