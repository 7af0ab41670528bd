"""Feeds from PostgreSQL: what is new in a table, read from one snapshot."""
