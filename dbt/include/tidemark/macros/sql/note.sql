{# Facts in a comment of the compiled SQL, as one JSON object, for people and for tidemark/engine/project/compiled_models.py. #}
{% macro tidemark__note(facts) %}
    {% set text = tojson(facts, sort_keys=true) | replace('*/', '\\u002a/') | replace('/*', '/\\u002a') %}
    {{ return(' /* tidemark ' ~ text ~ ' */') }}
{% endmacro %}
