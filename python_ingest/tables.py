"""Creating the tables that landing writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from delta.tables import DeltaTable

from python_ingest.errors import TidemarkError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
