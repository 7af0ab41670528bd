{# What is read of a source. `unproven`: why a rebuild from it proves nothing, in `tidemark verify`. #}
{% macro note_of_source(window) %}
    {% set facts = {'reads': window.source} %}
    {% for name in ('state', 'after', 'last', 'message', 'unproven') %}
        {% do facts.update({name: window.get(name)}) %}
    {% endfor %}
    {{ return(dbt.note(facts)) }}
{% endmacro %}

{# The values of a column that a model reads again in a source. #}
{% macro note_of_values(source, values) %}
    {% if not values.number %}
        {{ return('') }}
    {% endif %}
    {% set span = values.lowest if values.lowest == values.highest else values.lowest ~ ' .. ' ~ values.highest %}
    {% set message = values.column ~ ': ' ~ values.number ~ ' value' ~ ('' if values.number == 1 else 's') ~ ', ' ~ (span or 'null') %}
    {{ return(dbt.note({'prunes': source, 'message': message})) }}
{% endmacro %}
