"""Feeds from PostgreSQL: reads the new rows of a table from one snapshot."""
