{# Returns insert, update or delete for any of their synonyms, and NULL for anything else, so that a rule can reject it. #}
{% macro change_type(column) -%}
    case
        when lower(trim({{ column }})) in ('insert', 'i', 'create', 'c', 'read', 'r', 'snapshot') then 'insert'
        when lower(trim({{ column }})) in ('update', 'u', 'upsert') then 'update'
        when lower(trim({{ column }})) in ('delete', 'd') then 'delete'
    end
{%- endmacro %}
