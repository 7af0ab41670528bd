{# Disabled, so that it is not a node of a project. It tells Python the schemas of the state tables and of failed batches; a
   project's `+schema` does not change `meta`. #}
{{ config(enabled=false, meta={'ops_schema': generate_schema_name('ops', none), 'audit_schema': generate_schema_name('audit', none)}) }}
select 1 as one
