"""Tidemark: an incremental lakehouse on dbt and Spark."""
