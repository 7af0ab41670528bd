{# `dbt clone`: a shallow clone on Delta, and a view where the other table is a view. Stock dbt-spark wants `file_format: delta` in
   each model's config, and cannot clone over a table that has rows. Iceberg has no clones; no run could replace a view in their place,
   because dbt-spark does not list the views of its catalog. #}
{% materialization clone, adapter='tidemark' %}
    {% if not defer_relation %}
        {% do log('No relation found in state manifest for ' ~ model.unique_id, info=True) %}
        {{ return({'relations': []}) }}
    {% endif %}
    {% set existing = load_cached_relation(this) %}
    {% if this == defer_relation %}  {# dbt's message #}
        {% do log('Target relation and defer relation are the same, skipping clone for relation: ' ~ this, info=True) %}
        {{ return({'relations': []}) }}
    {% elif existing and not flags.FULL_REFRESH %}
        {% do log('Relation ' ~ this ~ ' already exists', info=True) %}
        {{ return({'relations': []}) }}
    {% endif %}
    {% set cloned = load_cached_relation(defer_relation) %}
    {% if dbt.tidemark__table_format() == 'iceberg' and model.config.materialized != 'view' %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ': Iceberg has no shallow clones. Read the tables of the state with `--defer --state`, and build only what has changed.'
        ) %}
    {% elif cloned is none and dbt.tidemark__table_format() == 'delta' %}
        {% do exceptions.raise_compiler_error(
            this.identifier ~ ': ' ~ defer_relation ~ ', which the state names, does not exist in this lake. Build it there, or leave it out: '
            ~ '`--exclude ' ~ model.name ~ '`.'
        ) %}
    {% elif cloned is not none and cloned.is_delta and cloned.is_table and can_clone_table() %}
        {% if existing and not existing.is_table %}
            {% do adapter.drop_relation(existing) %}
        {% endif %}
        {# Delta clones only into an empty table, and puts a new clone elsewhere if the lake's path has a space. Signed: the rows
           are those of the other table, and a run may delete them here. #}
        {% do adapter.run_signed([
            'create or replace table ' ~ this ~ ' using delta as select * from ' ~ defer_relation ~ ' where false',
            'create or replace table ' ~ this ~ ' shallow clone ' ~ defer_relation
        ], dbt.tidemark__by_format('signing')(), dbt.tidemark__signature()) %}
        {% do store_raw_result('main', message='shallow clone of ' ~ defer_relation, code='CLONE', rows_affected=0) %}
        {{ return({'relations': [this.incorporate(type='table')]}) }}
    {% endif %}
    {% if existing and not existing.is_view %}
        {% do adapter.drop_relation(existing) %}
    {% endif %}
    {{ return(dbt.materialization_view_spark()) }}
{% endmaterialization %}
