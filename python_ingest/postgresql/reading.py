"""Read the rows of a table with Spark, in the columns of the bronze table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from functools import reduce
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from psycopg import sql
from pyspark.sql import functions as f
from pyspark.sql.types import NumericType, StringType, StructField, StructType, TimestampType

from python_ingest.bronze.columns import Target, fields_of, in_sql
from python_ingest.bronze.table import BronzeTable
from python_ingest.feeds.declarations import TableFeed
from python_ingest.files.formats.rescue import rescued
from python_ingest.files.formats.typed import held_in
from python_ingest.postgresql.columns import RESCUED, selected
from python_ingest.postgresql.snapshot import Snapshot
from python_ingest.postgresql.source import Extent, Source
from tidemark.base.connections import Connection
from tidemark.base.databases import jdbc

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

IMPORT = "set transaction snapshot"
FETCH_ROWS = "10000"
PART_ROWS = 100_000


class Reading:
    """Reads one feed in one snapshot.

    Args:
        spark: the session.
        feed: the feed.
        to: the connection.
        taken: the snapshot.
        source: the table, view or query to read.

    Attributes:
        fields: the source's columns as Spark reads them.
    """

    def __init__(
        self, spark: SparkSession, feed: TableFeed, to: Connection, taken: Snapshot, source: Source
    ) -> None:
        self._source = source
        self._spark = spark
        self._feed = feed
        self._taken = taken
        self._url, properties = jdbc(to)
        importing = f"set transaction isolation level repeatable read read only; {IMPORT} '{taken.name}'"
        self._properties = properties | {
            "fetchsize": FETCH_ROWS, "preferTimestampNTZ": "true", "sessionInitStatement": importing,
        }  # fmt: skip
        self.fields = self._read = StructType()
        self._list: sql.Composable = sql.SQL("*")

    def resolve(self, targets: Sequence[Target]) -> None:
        """Decide how each column is read, so that it fits the column of bronze."""
        names = [column.name for column in self._source.columns]
        filled = fields_of(targets, names, ignores_case=False)
        wanted = {filled[target.name]: target.type for target in targets if target.name in filled}
        self._list = selected(self._source.columns, wanted, self._feed.external.time_zone)
        read = self._jdbc(sql.SQL("false"), ["true"]).schema
        self._read = StructType([field for field in read if field.name != RESCUED])
        unbounded = {column.name for column in self._source.columns if column.is_unbounded}
        self.fields = StructType()
        for field in self._read:
            to = wanted.get(field.name)
            # a numeric without precision is checked row by row
            fits = field.name in unbounded and isinstance(to, (NumericType, StringType))
            self.fields.add(StructField(field.name, to if fits and to else field.dataType))

    def rows(
        self, condition: sql.Composable, targets: Sequence[Target], extent: Extent | None = None
    ) -> DataFrame:
        """Read the rows that a condition selects.

        Args:
            condition: the condition.
            targets: the bronze table's columns.
            extent: the extent of the rows, if it is known.

        Returns:
            The columns of bronze, except those of the batch, the time and the row number.
        """
        values, others = held_in(targets, self._read)
        nothing = f.lit(None).cast("string")
        return self._jdbc(condition, self._parts(condition, extent)).select(
            *values,
            _merged(others).alias("_rescued_data"),
            nothing.alias("_corrupt_record"),
            nothing.alias("_corrupt_reason"),
            f.lit(self._feed.external.source).alias("_source_file"),
            f.lit(False).alias("_is_deleted"),
        )

    def compared(
        self, rechecked_rows: DataFrame, bronze: BronzeTable, lows: list[tuple[str, Any]] | None
    ) -> DataFrame:
        """Return rows with `_is_changed`: whether they differ from bronze.

        Args:
            rechecked_rows: the rechecked rows, from `rows`.
            bronze: the table.
            lows: from `Window.low_values`; batches of bronze that cannot have such rows are skipped.
        """
        table = self._spark.table(bronze.name)
        names = {target.in_file: target.name for target in bronze.targets}
        if lows is not None:
            at_least = [self._at_least(table, names.get(column, column), low) for column, low in lows]
            recent = reduce(lambda one, other: one | other, at_least, f.lit(False))
            first: Any = table.where(recent).agg(f.min("_batch_id")).first()
            table = table.where(f.col("_batch_id") >= f.lit(first[0]))  # NULL selects no rows
        compared = [*(target.name for target in bronze.targets), "_rescued_data"]
        keys = self._keys(bronze)
        known = _newest(table.join(rechecked_rows.select(keys), on=keys, how="left_semi"), keys, compared)
        joined = rechecked_rows.alias("incoming").join(known.alias("known"), on=keys, how="left")
        same = [
            f.col(f"incoming.{in_sql(c)}").eqNullSafe(f.col(f"newest.{in_sql(c)}"))
            for c in compared
            if c not in keys
        ]
        is_known = reduce(lambda one, other: one & other, same, f.col("newest").isNotNull())
        is_changed = ~f.coalesce(is_known & ~f.col("newest._is_deleted"), f.lit(False))
        return joined.select(
            *[f.col(f"incoming.{in_sql(c)}" if c not in keys else in_sql(c)) for c in rechecked_rows.columns],
            is_changed.alias("_is_changed"),
        )

    def deleted(self, bronze: BronzeTable) -> DataFrame:
        """Return a deleted row for each key missing from the source, with the key's last values in bronze."""
        keys = self._keys(bronze)
        targets = [target for target in bronze.targets if target.name in keys]
        there = self.rows(sql.SQL("true"), targets).select(keys)
        kept = [target.name for target in bronze.targets if target.name not in keys]
        newest = self._present(bronze, [*keys, *kept, "_rescued_data"])
        gone = newest.join(there, on=keys, how="left_anti")
        nothing = f.lit(None).cast("string")
        return gone.select(
            *keys,
            *[f.col(f"newest.{in_sql(name)}").alias(name) for name in (*kept, "_rescued_data")],
            nothing.alias("_corrupt_record"),
            nothing.alias("_corrupt_reason"),
            f.lit(self._feed.external.source).alias("_source_file"),
            f.lit(True).alias("_is_deleted"),
        )

    def present(self, bronze: BronzeTable) -> int:
        """Return the number of keys in bronze that are not deleted."""
        return self._present(bronze, self._keys(bronze)).count()

    def _at_least(self, table: DataFrame, column: str, low: Any) -> Column:
        """Return whether a column of bronze is at least a value of the source."""
        of = table.schema[column].dataType
        if isinstance(low, datetime) and low.tzinfo is None and isinstance(of, TimestampType):
            low = low.replace(tzinfo=ZoneInfo(self._feed.external.time_zone))
        message = low.isoformat() if isinstance(low, date) else str(low)
        return f.col(in_sql(column)) >= f.lit(message).cast(of)

    def _present(self, bronze: BronzeTable, compared: Sequence[str]) -> DataFrame:
        landed = self._spark.table(bronze.name).where("_corrupt_record is null")  # not of erased persons
        return _newest(landed, self._keys(bronze), compared).where("not newest._is_deleted")

    def _keys(self, bronze: BronzeTable) -> list[str]:
        names = {target.in_file: target.name for target in bronze.targets}
        return [names.get(name, name) for name in self._feed.external.key]

    def _jdbc(self, condition: sql.Composable, parts: list[str]) -> DataFrame:
        query = sql.SQL("(select {} from {} where {}) as rows").format(
            self._list, self._source.relation, condition
        )
        text = query.as_string(self._taken.connection)
        return self._spark.read.jdbc(self._url, text, predicates=parts, properties=self._properties)

    def _parts(self, condition: sql.Composable, extent: Extent | None) -> list[str]:
        """Return conditions that cut the rows into parts that are read in parallel: ranges of the key."""
        key = self._feed.external.key[0]
        name = sql.Identifier(key)
        extent = extent or self._source.extent(self._taken, key, condition)
        most = 2 * self._spark.sparkContext.defaultParallelism
        number = min(most, extent.rows // PART_ROWS)
        if number < 2:
            return ["true"]
        if extent.low is None or extent.high is None:
            hashed = sql.SQL("mod(hashtext(cast({} as text))::bigint + 2147483648, {}) = {}")
            count = self._spark.sparkContext.defaultParallelism
            return [hashed.format(name, count, part).as_string() for part in range(count)]
        step = (extent.high - extent.low) // number + 1
        ends = [extent.low + step * part for part in range(1, number)]
        ranges = zip([None, *ends], [*ends, None], strict=True)
        return [_range(name.as_string(), low, high) for low, high in ranges]


def _newest(rows: DataFrame, keys: Sequence[str], compared: Sequence[str]) -> DataFrame:
    """Return the row that landed last for each key, as the struct `newest`."""
    values = [in_sql(name) for name in compared if name not in keys]
    order = f.struct("_batch_id", "_row_number")
    return rows.groupBy([in_sql(key) for key in keys]).agg(
        f.max_by(
            f.struct(*values, f.coalesce("_is_deleted", f.lit(False)).alias("_is_deleted")), order
        ).alias("newest")
    )


def _merged(others: Sequence[Column]) -> Column:
    """Return one JSON object: fields without a column in bronze, and values that Spark cannot hold."""
    strange = f.col(RESCUED)
    if not others:
        return strange
    more = rescued(others)
    both = f.concat(
        f.expr(f"substr({RESCUED}, 1, length({RESCUED}) - 1)"), f.lit(","), f.substring(more, 2, 2**31 - 1)
    )
    return f.when(strange.isNotNull() & more.isNotNull(), both).otherwise(f.coalesce(strange, more))


def _range(name: str, low: int | None, high: int | None) -> str:
    bounds = [f"{name} >= {low}"] * (low is not None) + [f"{name} < {high}"] * (high is not None)
    return " and ".join(bounds)
