"""How bronze tables evolved: the table `ops.schema_changes`, one row a change."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from python_ingest.contract import Change
from python_ingest.tables import create_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = """
    feed string comment 'Name of the feed',
    change string comment 'new_column, missing_column or type_change',
    column_name string comment 'The column in bronze',
    field string comment 'Its name in the file',
    from_type string comment 'Its type in bronze before; null for a new column',
    to_type string comment 'Its type in bronze afterwards',
    path string comment 'The first file that has the change, relative to the location of the feed',
    recorded_at timestamp comment 'When the change was recorded, just before bronze evolved'
"""
KEY = ("change", "column_name", "to_type")


class SchemaChanges:
    """The changes of one feed.

    Args:
        spark: the session.
        schema: the schema of the state tables.
        feed: the feed's name.
    """

    def __init__(self, spark: SparkSession, schema: str, feed: str) -> None:
        self._spark = spark
        self._feed = feed
        self._table = f"{schema}.schema_changes"

    def record(self, found: Sequence[tuple[str, Change]], at: datetime) -> list[Change]:
        """Record changes that are not recorded yet, in one commit.

        Args:
            found: path and change, in the order of the files.
            at: UTC.

        Returns:
            The changes that were new.
        """
        if not found:
            return []
        create_table(self._spark, self._table, COLUMNS)
        known = self._spark.table(self._table).where(f"feed = '{self._feed}'")
        keys = {tuple(row) for row in known.select(*KEY).collect()}
        rows, new = [], []
        for path, change in found:
            from_type, to_type = (of.simpleString() if of else None for of in (change.held, change.becomes))
            if (change.kind, change.column, to_type) not in keys:
                keys.add((change.kind, change.column, to_type))
                rows.append(
                    (self._feed, change.kind, change.column, change.field, from_type, to_type, path, at)
                )
                new.append(change)
        if rows:
            frame = self._spark.createDataFrame(rows, self._spark.table(self._table).schema)
            frame.coalesce(1).write.format("delta").mode("append").saveAsTable(self._table)
        return new
