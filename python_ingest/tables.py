"""Creating the tables that landing writes, and the rows of one feed in those of state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from delta.tables import DeltaTable

from python_ingest.errors import TidemarkError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def create_table(
    spark: SparkSession, table: str, columns: str, properties: Mapping[str, str] | None = None
) -> None:
    """Create an empty Delta table, and its schema, if the catalog has none of this name.

    Delta commits a new table first, then Spark enters it in the catalog. A run killed in between leaves a
    folder at which `create table` stops for ever; to create or replace it with a query's rows is allowed.

    Args:
        spark: the session.
        table: the name as `schema.table`.
        columns: the columns as SQL, with types and comments.
        properties: the table's properties.

    Raises:
        TidemarkError: when the folder holds rows of a table that the catalog has lost.
    """
    if spark.catalog.tableExists(table):
        return
    schema, _, name = table.partition(".")
    spark.sql(f"create schema if not exists {schema}")
    folder = f"{spark.catalog.getDatabase(schema).locationUri}/{name}"
    if DeltaTable.isDeltaTable(spark, folder) and not spark.read.format("delta").load(folder).isEmpty():
        raise TidemarkError(
            f"The catalog has no table {table}, but its folder {folder} holds rows.",
            "Restore the catalog, or move the folder away to start anew.",
        )
    writer = spark.createDataFrame([], columns).writeTo(table).using("delta")
    for key, value in (properties or {}).items():
        writer = writer.tableProperty(key, value)
    writer.createOrReplace()


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
        create_table(self._spark, self._table, self._columns)

    def _rows(self) -> DataFrame:
        return self._spark.table(self._table).where(f"feed = '{self._feed}'")

    def _add(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Append rows in one commit; each gets the feed's name before it."""
        types = [line.split(" comment ")[0].strip() for line in self._columns.strip().splitlines()]
        frame = self._spark.createDataFrame([(self._feed, *row) for row in rows], ", ".join(types))
        frame.coalesce(1).write.format("delta").mode("append").saveAsTable(self._table)
