"""The state tables: what landed, what was rejected, and what changed."""

STATE_TABLES = (
    "runs",
    "ingested_files",
    "ingested_batches",
    "rejected_records",
    "schema_changes",
    "bronze_checks",
    "erasures",
)
