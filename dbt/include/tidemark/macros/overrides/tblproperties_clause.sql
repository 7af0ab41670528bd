{# The properties of a table that dbt-spark's macros create, with the constraints of its contract: its rows and its constraints
   are one commit. Stock dbt-spark adds them afterwards, and its `set not null` is refused by Delta outside of Databricks. #}
{% macro tidemark__tblproperties_clause() %}
    {% set properties = [] %}
    {% if (config.get('file_format') or dbt.tidemark__table_format()) == 'delta' %}
        {% for name, expression in dbt.tidemark__delta_guards(dbt.tidemark__constraints_of(model)).items() %}
            {% do properties.append("'" ~ name ~ "' = '" ~ dbt.tidemark__escaped(expression) ~ "'") %}
        {% endfor %}
    {% endif %}
    {% for name, value in (config.get('tblproperties') or {}).items() %}
        {% do properties.append("'" ~ name ~ "' = '" ~ value ~ "'") %}
    {% endfor %}
    {% if properties %}
        tblproperties ({{ properties | join(', ') }})
    {% endif %}
{% endmacro %}

{# The statement that creates the table has added the constraints. #}
{% macro tidemark__persist_constraints(relation, model) %}
    {% for column in model.columns.values() if config.get('contract').enforced %}
        {% for constraint in column.constraints if constraint.type not in ('not_null', 'check') %}
            {% do exceptions.warn(
                this.identifier ~ ': the constraint `' ~ constraint.type ~ '` of the column `' ~ column.name ~ '` is not checked, because '
                ~ 'tables of a lake have no keys. Add a data test, such as `unique`.'
            ) %}
        {% endfor %}
    {% endfor %}
{% endmacro %}
