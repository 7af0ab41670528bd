{# Before the first node. The views show the arrays of `ops.runs` as rows. #}
{% macro tidemark__create_run_tables() %}
    {% if execute and not adapter.reads_past() and flags.WHICH in ('build', 'run', 'test', 'seed', 'snapshot') %}
        {% do dbt.tidemark__lock_selected_tables() %}
        {% do dbt.tidemark__sign_commits() %}
        {% do adapter.open_state(dbt.tidemark__ops_table('runs'), dbt.tidemark__table_format()) %}
        {% do dbt.tidemark__note_versions_before() %}
        {% if flags.WHICH in ('build', 'run', 'test') %}
            {% do dbt.tidemark__checkpoints() %}  {# before several threads ask for them at once #}
        {% endif %}
    {% endif %}
{% endmacro %}
