{# Properties of a new table: what its format needs, how long it keeps versions, the contract's constraints, and the model's config. #}
{% macro tidemark__table_properties(node) %}
    {% set properties = dbt.tidemark__by_format('properties')(is_partitioned=config.get('partition_by')) %}
    {% set own = config.get('tblproperties') or {} %}
    {% do properties.update(adapter.retention(own.keys() | list)) %}
    {% do properties.update(dbt.tidemark__by_format('guards')(dbt.tidemark__constraints_of(node))) %}
    {% do properties.update(own) %}
    {{ return(properties) }}
{% endmacro %}

{# The constraints of an enforced contract by name: SQL that is true for each row. #}
{% macro tidemark__constraints_of(node) %}
    {% set found = {} %}
    {% if config.get('contract').enforced %}
        {% for column in node.columns.values() %}
            {% set name = adapter.quote(column.name) if column.quote else column.name %}
            {% for constraint in column.constraints %}
                {% if constraint.type == 'not_null' %}
                    {% do found.update({column.name ~ '_not_null': name ~ ' is not null'}) %}
                {% elif constraint.type == 'check' %}
                    {% do found.update({constraint.name or dbt.tidemark__free_name(column.name ~ '_check', found): constraint.expression}) %}
                {% endif %}
            {% endfor %}
        {% endfor %}
        {% for constraint in node.constraints if constraint.type == 'check' %}
            {% do found.update({constraint.name or dbt.tidemark__free_name('check', found): constraint.expression}) %}
        {% endfor %}
    {% endif %}
    {{ return(found) }}
{% endmacro %}

{# A name that is not among others: several constraints of a column may have none. #}
{% macro tidemark__free_name(name, others) %}
    {% if name not in others %}
        {{ return(name) }}
    {% endif %}
    {% for number in range(2, others | length + 2) if name ~ '_' ~ number not in others %}
        {{ return(name ~ '_' ~ number) }}
    {% endfor %}
{% endmacro %}
