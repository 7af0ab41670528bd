"""The rows of one feed in a table of state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from python_ingest.lake.table_format import DELTA, append, table_format
from python_ingest.lake.tables import create_table, local_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class FeedTable:
    """The rows of one feed in a table of state.

    Args:
        spark: the session.
        schema: the schema of the state tables.
        feed: the feed's name.
        name: the table's name in the schema.
        columns: the columns as SQL, a line each, with types and comments.
    """

    def __init__(self, spark: SparkSession, schema: str, feed: str, name: str, columns: str) -> None:
        self._spark = spark
        self._feed = feed
        self._table = f"{schema}.{name}"
        self._columns = columns

    def _create(self) -> None:
        properties = {}
        if table_format(self._spark) == DELTA:
            # a checkpoint takes as long as five commits, and a reader 15 ms for each commit since
            properties = {"delta.checkpointInterval": "20", "delta.autoOptimize.autoCompact": "true"}
        create_table(self._spark, self._table, self._columns, properties)

    def _rows(self) -> DataFrame:
        return self._spark.table(self._table).where(f"feed = '{self._feed}'")

    def _add(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Append rows in one commit; each gets the feed's name before it."""
        frame = local_rows(self._spark, self._columns, [(self._feed, *row) for row in rows])
        append(frame, self._table)
