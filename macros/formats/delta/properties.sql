{% macro delta_properties(is_partitioned=false) %}
    {% set properties = {'delta.enableChangeDataFeed': 'true'} %}
    {% if is_partitioned %}
        {# else each of Spark's tasks writes a file of its own into each partition #}
        {% do properties.update({'delta.autoOptimize.optimizeWrite': 'true'}) %}
    {% endif %}
    {{ return(properties) }}
{% endmacro %}

{# Delta CHECK constraints as properties are part of the creating commit: stock dbt-spark adds them afterwards, and leaves
   an unguarded table behind when that fails. #}
{% macro delta_guards(constraints) %}
    {% set properties = {} %}
    {% for name, expression in constraints.items() %}
        {% do properties.update({'delta.constraints.' ~ name: expression}) %}
    {% endfor %}
    {{ return(properties) }}
{% endmacro %}

{% macro delta_guard_prefix() %}
    {{ return('delta.constraints.') }}
{% endmacro %}
