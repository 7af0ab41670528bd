{# On-run-start: commits of this command carry a word, so that those of anyone else are told apart. Only where all
   statements go through one session: dbt opens a connection for each thread to a server. #}
{% macro sign_commits() %}
    {% if adapter.is_embedded() %}
        {% do adapter.set_for_session(tidemark.by_format('signing')(), tidemark.signature()) %}
    {% endif %}
{% endmacro %}

{# On-run-end. #}
{% macro stop_signing() %}
    {% if adapter.is_embedded() %}
        {% do adapter.set_for_session(tidemark.by_format('signing')()) %}
    {% endif %}
{% endmacro %}

{% macro signature() %}
    {{ return('tidemark') }}
{% endmacro %}
