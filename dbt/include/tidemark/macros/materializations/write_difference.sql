{# Makes the table equal to the query: keys that the query does not return are deleted, and nothing is committed if nothing
   differs. Rows of a model that accumulates stay. The settings newest_by, insert_only and prune_by do not apply here: they choose
   between versions of a key in an increment. #}
{% macro write_difference(relation, query) %}
    {% set rows = 'select ' ~ dbt.quoted(query.columns) ~ ' from (' ~ query.sql ~ ')' ~ (' where not ' ~ query.flag if query.flag else '') %}
    {% set whole = dict(query, sql=rows, is_plain=true, newest_by=[], flag=none, counts_versions=false) %}
    {% if not query['keys'] %}
        {% do dbt.write_bag(relation, whole) %}
    {% elif dbt.way_of(model).accumulates %}
        {% do dbt.merge_into(relation, whole) %}
    {% else %}
        {% do dbt.refuse_loss(relation, whole) %}
        {% do dbt.merge_into(relation, dict(whole, region={'present': '', 'predicate': none, 'values': none})) %}
    {% endif %}
{% endmacro %}
