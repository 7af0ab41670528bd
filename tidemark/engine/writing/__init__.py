"""The statements of each way to write a table: `dbt run` and `tidemark prove` execute the same ones."""
