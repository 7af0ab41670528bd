"""Tidemark: ingestion of files, tables and topics into the lakehouse."""
