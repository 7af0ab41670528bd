"""Tidemark: ingestion of raw files into the lakehouse."""
