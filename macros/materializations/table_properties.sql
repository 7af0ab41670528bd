{# Properties of a new table. Delta CHECK constraints given here are part of the creating commit: stock
   dbt-spark adds them afterwards, and leaves an unguarded table behind when that fails. #}
{% macro table_properties(node) %}
    {% set properties = {'delta.enableChangeDataFeed': 'true'} %}
    {% if config.get('partition_by') %}
        {# else each of Spark's tasks writes a file of its own into each partition #}
        {% do properties.update({'delta.autoOptimize.optimizeWrite': 'true'}) %}
    {% endif %}
    {% if config.get('contract').enforced %}
        {% for column in node.columns.values() %}
            {% for constraint in column.constraints %}
                {% if constraint.type == 'not_null' %}
                    {% do properties.update({'delta.constraints.' ~ column.name ~ '_not_null': column.name ~ ' is not null'}) %}
                {% elif constraint.type == 'check' %}
                    {% do properties.update({'delta.constraints.' ~ (constraint.name or column.name ~ '_check'): constraint.expression}) %}
                {% endif %}
            {% endfor %}
        {% endfor %}
        {% for constraint in node.constraints if constraint.type == 'check' %}
            {% do properties.update({'delta.constraints.' ~ constraint.name: constraint.expression}) %}
        {% endfor %}
    {% endif %}
    {% do properties.update(config.get('tblproperties') or {}) %}
    {{ return(properties) }}
{% endmacro %}
