{# Before the first node. The views show the arrays of `ops.runs` as rows. #}
{% macro create_run_tables() %}
    {% if execute and not adapter.reads_past() and flags.WHICH in ('build', 'run', 'test', 'seed', 'snapshot') %}
        {% do dbt.lock_selected_tables() %}
        {% do dbt.sign_commits() %}
        {% do adapter.open_state(dbt.ops_table('runs'), dbt.table_format()) %}
        {% do dbt.note_versions_before() %}
        {% if flags.WHICH in ('build', 'run', 'test') %}
            {% do dbt.checkpoints() %}  {# before several threads ask for them at once #}
        {% endif %}
    {% endif %}
{% endmacro %}
