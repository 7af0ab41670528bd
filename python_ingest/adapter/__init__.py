"""What dbt calls: dbt-spark's adapter with the lake's lock, Delta's log, and errors as one message."""
