{# Never run. It tells Python the schema of the state tables; a project's `+schema` for all models does not change `meta`. #}
{{ config(meta={'ops_schema': generate_schema_name('ops', none)}) }}
select 1 as one
