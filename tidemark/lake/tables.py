"""Create tables for landing, and build DataFrames from rows of this process."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from delta.tables import DeltaTable
from pyspark.sql import functions as f
from pyspark.sql.types import ArrayType, StructType

from tidemark.base.errors import TidemarkError
from tidemark.lake.retention import retention
from tidemark.lake.table_format import DELTA, properties_of_new, table_exists, table_format

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CREATING = threading.Lock()  # feeds that land side by side have their state tables in common


def create_table(
    spark: SparkSession, table: str, columns: str, properties: Mapping[str, str] | None = None
) -> None:
    """Create an empty table, and its schema, if the catalog has no table of this name.

    Delta commits a new table before Spark adds it to the catalog. A run killed in between leaves a folder
    that makes every later `create table` fail; `create or replace` with a query's rows still works.

    Args:
        spark: the session.
        table: the name as `schema.table`.
        columns: the columns as SQL, with types and comments.
        properties: the table's properties.

    Raises:
        TidemarkError: if the folder has rows of a table that is missing from the catalog.
    """
    if table_exists(spark, table):
        return
    with CREATING:
        if not table_exists(spark, table):
            _create(spark, table, columns, properties or {})


def _create(spark: SparkSession, table: str, columns: str, properties: Mapping[str, str]) -> None:
    schema, _, name = table.partition(".")
    spark.sql(f"create schema if not exists {schema}")
    if table_format(spark) == DELTA:
        _refuse_rows_left(spark, table, f"{spark.catalog.getDatabase(schema).locationUri}/{name}")
    writer = _no_rows(spark, columns).writeTo(table).using(table_format(spark))
    given = {**properties_of_new(spark), **retention(table_format(spark)), **properties}
    for key, value in given.items():
        writer = writer.tableProperty(key, value)
    writer.createOrReplace()


def _no_rows(spark: SparkSession, columns: str) -> DataFrame:
    """Return no rows with these columns; unlike `local_rows` also for maps whose keys are not text."""
    schema = cast(StructType, StructType.fromDDL(columns))
    nothing = [
        f.lit(None).cast(field.dataType).alias(field.name, metadata=field.metadata) for field in schema.fields
    ]
    return spark.range(0, 0, numPartitions=1).select(*nothing)


def _refuse_rows_left(spark: SparkSession, table: str, folder: str) -> None:
    if DeltaTable.isDeltaTable(spark, folder) and not spark.read.format(DELTA).load(folder).isEmpty():
        raise TidemarkError(
            f"The catalog has no table {table}, but its folder {folder} contains rows.",
            "Restore the catalog, or move the folder away to start again.",
        )


def local_rows(spark: SparkSession, columns: str, rows: Sequence[tuple[Any, ...]]) -> DataFrame:
    """Return a DataFrame of rows of this process.

    The rows go to Spark as one text. `createDataFrame` would start Python workers each time, which takes
    longer than writing a small table.

    Args:
        spark: the session.
        columns: the columns as SQL, with types and comments.
        rows: the values in the order of the columns; timestamps with a time zone.
    """
    schema = cast(StructType, StructType.fromDDL(columns))
    text = json.dumps([dict(zip(schema.names, row, strict=True)) for row in rows], default=datetime.isoformat)
    parsed = f.from_json(f.lit(text), ArrayType(schema), {"mode": "FAILFAST"})
    return spark.range(0, 1, numPartitions=1).select(f.inline(parsed))
