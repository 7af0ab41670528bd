{# For dbt_utils, which finds it with `dbt` in its search order (docs/packages.md). Its own macro for Spark joins the relation with itself by all
   columns: rows with NULL in one are lost, and each run reads all rows. #}
{% macro tidemark__deduplicate(relation, partition_by, order_by) %}
    select * except (number_in_partition)
    from (
        select *, row_number() over (partition by {{ partition_by }} order by {{ order_by }}) as number_in_partition
        from {{ relation }}
    )
    where number_in_partition = 1
{% endmacro %}
