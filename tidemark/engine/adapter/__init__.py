"""The dbt adapter: dbt-spark's, with the lake's lock, Delta's log, and plain error messages."""
