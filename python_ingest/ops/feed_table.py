"""The rows of one feed in a state table."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tidemark.lake.table_format import DELTA, append, table_format
from tidemark.lake.tables import create_table, local_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Feeds that land side by side write to the same state tables, one at a time: a MERGE for one feed conflicts
# with what is written for another, and Iceberg gives up a commit after some conflicts.
WRITING = threading.Lock()


class FeedTable:
    """The rows of one feed in a state table.

    Args:
        spark: the session.
        schema: the schema of the state tables.
        feed: the feed's name.
        name: the table's name in the schema.
        columns: the columns as SQL, one per line, with types and comments.
    """

    def __init__(self, spark: SparkSession, schema: str, feed: str, name: str, columns: str) -> None:
        self._spark = spark
        self._feed = feed
        self._table = f"{schema}.{name}"
        self._columns = columns

    def _create(self) -> None:
        properties = {}
        if table_format(self._spark) == DELTA:
            # a checkpoint takes as long as five commits; a reader needs 15 ms for each commit since then
            properties = {"delta.checkpointInterval": "20", "delta.autoOptimize.autoCompact": "true"}
        create_table(self._spark, self._table, self._columns, properties)

    def _rows(self) -> DataFrame:
        return self._spark.table(self._table).where(f"feed = '{self._feed}'")

    def _add(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Append rows in one commit, each with the feed's name as its first value."""
        frame = local_rows(self._spark, self._columns, [(self._feed, *row) for row in rows])
        with WRITING:
            append(frame, self._table)
