{# Never run: its schema is that of the state tables, as the project's `generate_schema_name` gives it. #}
{{ config(schema='ops') }}
select 1 as one
