{# What is read of a source. `unproven`: why a rebuild from it proves nothing, in `tidemark verify`. #}
{% macro tidemark__note_of_source(window) %}
    {% set facts = {'reads': window.source} %}
    {% for name in ('state', 'after', 'last', 'message', 'unproven') %}
        {% do facts.update({name: window[name] | default(none)}) %}
    {% endfor %}
    {{ return(dbt.tidemark__note(facts)) }}
{% endmacro %}
