{# A seed is written in one commit, and only if its file has changed. Stock dbt-spark drops and refills the table on every
   run, turns NULL into the text None and fails on an apostrophe. #}
{% materialization seed, adapter='tidemark' %}
    {% if '.' in this.identifier %}
        {% do exceptions.raise_compiler_error(
            model.original_file_path ~ ': Spark takes the dots in the name of a table for those between schemas. Rename the file, or set `alias`.'
        ) %}
    {% endif %}
    {% set existing = load_relation(this) %}
    {% set agate_table = load_agate_table() %}
    {% do store_result('agate_table', response='OK', agate_table=agate_table) %}
    {# `--empty` leaves the rows out, so that the next run without it must write them #}
    {% set content = 'empty' if flags.EMPTY else model.checksum.checksum %}
    {% set checksum = local_md5(content ~ tojson(config.get('column_types', {})) ~ tojson(model.columns)) %}
    {% do dbt.tidemark__note_version_before(model, this) %}
    {{ run_hooks(pre_hooks) }}
    {% if existing is not none and existing.is_view %}
        {% do adapter.drop_relation(existing) %}
        {% set existing = none %}
    {% endif %}
    {# dbt hashes only the path of a big file #}
    {% if existing is none or should_full_refresh() or model.checksum.name == 'path' or dbt.tidemark__seed_checksum(this) != checksum %}
        {% do run_query(dbt.tidemark__seed_sql(this, agate_table, checksum)) %}
        {% do dbt.tidemark__forget_table(this) %}
        {% do dbt.tidemark__report_written({'inserted': agate_table.rows | length, 'commit': adapter.last_commit(this)}) %}
        {% do persist_docs(this, model) %}
    {% else %}
        {% do dbt.tidemark__report_written({}) %}
    {% endif %}
    {% do dbt.tidemark__grant_as_set(this, existing) %}
    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [this]}) }}
{% endmaterialization %}

{% macro tidemark__seed_checksum(relation) %}
    {% for row in run_query('show tblproperties ' ~ relation) if row['key'] == 'tidemark.checksum' %}
        {{ return(row['value']) }}
    {% endfor %}
    {{ return(none) }}
{% endmacro %}

{% macro tidemark__seed_sql(relation, agate_table, checksum) %}
    {% set types = config.get('column_types', {}) %}
    create or replace table {{ relation }}
    using {{ dbt.tidemark__table_format() }}
    {{ comment_clause() }}
    tblproperties (
        {%- for name, value in dict(dbt.tidemark__by_format('properties')(), **adapter.retention()).items() %}'{{ name }}' = '{{ value }}', {% endfor -%}
        'tidemark.checksum' = '{{ checksum }}'
    )
    as
    select
        {% for name in agate_table.column_names -%}
        cast({{ name }} as {{ types.get(name, adapter.convert_type(agate_table, loop.index0)) }}) as {{ name }}{{ ',' if not loop.last }}
        {% endfor %}
    from values
        {% for row in agate_table.rows or [agate_table.column_names] -%}
        ({% for value in row %}{{ dbt.tidemark__literal(value) }}{{ ', ' if not loop.last }}{% endfor %}){{ ',' if not loop.last }}
        {% endfor %}
    as seed ({{ agate_table.column_names | join(', ') }})
    {{ 'where false' if not agate_table.rows }}
{% endmacro %}

{% macro tidemark__literal(value) %}
    {{ return('null' if value is none or value is undefined else "'" ~ dbt.tidemark__escaped(value) ~ "'") }}
{% endmacro %}
