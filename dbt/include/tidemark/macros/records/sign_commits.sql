{# Before the first node: commits of this command carry a signature, so that commits of other writers can be told apart. This only
   works if all statements go through one session: with a Thrift server, dbt opens a connection per thread. #}
{% macro tidemark__sign_commits() %}
    {% if adapter.has_one_session() %}
        {% do adapter.set_for_session(dbt.tidemark__by_format('signing')(), dbt.tidemark__signature()) %}
    {% endif %}
{% endmacro %}

{# After the last node. #}
{% macro tidemark__stop_signing() %}
    {% if adapter.has_one_session() %}
        {% do adapter.set_for_session(dbt.tidemark__by_format('signing')()) %}
    {% endif %}
{% endmacro %}

{% macro tidemark__signature() %}
    {{ return('tidemark') }}
{% endmacro %}
