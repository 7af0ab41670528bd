{# Before the first node: commits of this command carry a signature, so that commits of other writers can be told apart. This only
   works if all statements go through one session: with a Thrift server, dbt opens a connection per thread. #}
{% macro sign_commits() %}
    {% if adapter.has_one_session() %}
        {% do adapter.set_for_session(dbt.by_format('signing')(), dbt.signature()) %}
    {% endif %}
{% endmacro %}

{# After the last node. #}
{% macro stop_signing() %}
    {% if adapter.has_one_session() %}
        {% do adapter.set_for_session(dbt.by_format('signing')()) %}
    {% endif %}
{% endmacro %}

{% macro signature() %}
    {{ return('tidemark') }}
{% endmacro %}
