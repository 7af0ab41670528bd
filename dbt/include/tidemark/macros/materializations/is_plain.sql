{# True for a model that reads only by plain ref() and source() and does not call is_incremental(). Its table is updated from
   the changes of its sources (write_changes.sql). #}
{% macro is_plain(node) %}
    {{ return(dbt.reads_plainly(node) and not dbt.code_of(node.unique_id).asks_incremental) }}
{% endmacro %}

{# True for such a model that calls is_incremental() and leaves no checkpoints: its SQL decides what it reads, as in stock dbt. #}
{% macro is_unproven(node) %}
    {{ return(dbt.reads_plainly(node) and dbt.code_of(node.unique_id).asks_incremental) }}
{% endmacro %}

{% macro reads_plainly(node) %}
    {{ return(
        node.config.materialized == 'incremental' and not flags.EMPTY and node.unique_id not in dbt.run_state('windows')
    ) }}
{% endmacro %}
