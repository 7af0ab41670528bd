"""A feed's bronze table: create it, match it to the declaration, evolve it, append to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from pyspark.sql import functions as f
from pyspark.sql.types import DataType, StringType

from python_ingest.bronze.admission import Admission
from python_ingest.bronze.columns import Target, in_sql, type_in_sql
from python_ingest.bronze.contract import check_types
from python_ingest.bronze.evolution import evolving_clauses, kept_target
from python_ingest.bronze.metadata import metadata_of
from python_ingest.feeds.declarations import Feed
from python_ingest.ops.batch import RETRACTED, Batch
from tidemark.base.errors import LandingError
from tidemark.lake.delta_statements import log_of
from tidemark.lake.retention import set_properties
from tidemark.lake.table_format import (
    DELTA,
    append_once,
    identity_of,
    location_of,
    refresh,
    replace_rows,
    table_exists,
    table_format,
)
from tidemark.lake.tables import create_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Delta collects min/max and NULL statistics of these per file, to find broken and rescued records
SKIPPING = ("_batch_id", "_ingested_at", "_source_file", "_corrupt_record", "_rescued_data")
STATISTICS = "delta.dataSkippingStatsColumns"


class Counted(NamedTuple):
    """The number of rows, of broken records, and of records with `_rescued_data` (None if it is unknown)."""

    rows: int
    broken: int
    rescued: int | None


class BronzeTable:
    """The bronze table of one feed.

    Args:
        spark: the session.
        feed: the feed.
        skipping: additional columns by whose values files can be skipped.
        ops_schema: the schema of `ops.erasures`: rows of erased persons come without content. None to let
            all rows in.

    Attributes:
        name: `schema.name`.
        admission: which rows may land.
        writer: the writer name under which batches are appended.
        targets: its columns without metadata: the declared ones, then those that landing added.
    """

    def __init__(
        self,
        spark: SparkSession,
        feed: Feed,
        skipping: Sequence[str] = (),
        ops_schema: str | None = None,
    ) -> None:
        self._spark = spark
        self._feed = feed
        self.admission = Admission(spark, feed, ops_schema)
        self._metadata = metadata_of(feed)
        self._metadata_names = [column.split()[0] for column in self._metadata]
        self._retracts = "_first_batch_id" in self._metadata_names
        self._properties = {}
        if table_format(spark) == DELTA:
            self._properties["delta.enableChangeDataFeed"] = "true"
            self._properties[STATISTICS] = ",".join((*SKIPPING, *skipping))
        self.name = feed.table
        self.writer = f"tidemark.land.{self.name}"
        self.targets: list[Target] = []
        self._last_batch: int | None = None  # cached after the first query: the lake has one writer

    def prepare(self, landed_batch: int) -> None:
        """Create the table, or update it to match the declaration.

        Args:
            landed_batch: the highest landed batch in the feed's state table.

        Raises:
            LandingError: if the table is missing although batches landed, or if a column's type and its
                declared type are different and neither widens to the other.
            TidemarkError: if a secret for hashes is missing, or another one than before.
        """
        self.admission.check()
        declared = [Target(c.name, DataType.fromDDL(c.data_type), c.in_file) for c in self._feed.columns]
        declared += [Target(name, StringType()) for name in self._feed.partition_names]
        check_types(self._feed, declared)
        if not table_exists(self._spark, self.name):
            if landed_batch and self._feed.external.on_lost_rows == "stop":
                raise LandingError(
                    f"{self.name} does not exist, but its batches up to {landed_batch} were landed.",
                    f"Restore it, or set `on_lost_rows` in {self._feed.declared_in}. To land everything "
                    "again, delete the feed's rows from ops.ingested_files, ops.ingested_batches and "
                    "ops.rejected_records.",
                )
            columns = [f"{in_sql(target.name)} {type_in_sql(target.type)}" for target in declared]
            create_table(self._spark, self.name, ", ".join((*columns, *self._metadata)), self._properties)
            self.targets = declared
            self._last_batch = 0
            return
        held = {field.name: field.dataType for field in self._spark.table(self.name).schema}
        if "_first_batch_id" in held and not self._retracts:
            raise LandingError(
                f"{self.name} has retracted rows, but feed '{self._feed.name}' no longer declares "
                "`on_removed: retract`.",
                f"Set it again in {self._feed.declared_in}; or to land everything again without it, drop "
                "the table and delete the feed's rows from ops.ingested_files and ops.rejected_records.",
            )
        added = [column for column in self._metadata if column.split()[0] not in held]
        if added:
            self._spark.sql(f"alter table {self.name} add columns ({', '.join(added)})")
        names = {target.name for target in declared} | set(self._metadata_names)
        others = [Target(name, of) for name, of in held.items() if name not in names]
        known = [Target(target.name, held[target.name]) for target in declared if target.name in held]
        self.targets = [*known, *others]
        kept = [kept_target(self._feed, target, held.get(target.name)) for target in declared]
        self.evolve([*kept, *others])

    def evolve(self, targets: Sequence[Target]) -> None:
        """Add columns and widen types until the table has these columns; do nothing if it has them."""
        for clause in evolving_clauses(self._feed, self.targets, targets, table_format(self._spark)):
            self._spark.sql(f"alter table {self.name} {clause}")
        self.targets = list(targets)

    def append(self, rows: DataFrame, batch: Batch, retracting: DataFrame | None = None) -> None:
        """Append a batch's rows, once.

        Args:
            rows: the rows of the source; they get the other columns of the table.
            batch: the batch.
            retracting: rows with all columns of the table, to be appended with them.
        """
        stamped = self.stamped(rows, batch)
        stamped = stamped if retracting is None else stamped.unionByName(retracting)
        append_once(stamped, self.name, self.writer, batch.batch_id)
        refresh(self._spark, self.name)  # rows of a stream, or with nanoseconds, are of another session
        self._last_batch = max(self._last_batch or 0, batch.batch_id)

    def replace(self, rows: DataFrame, batch: Batch, paths: Sequence[str]) -> None:
        """Replace the rows of a batch that came from the same files.

        Args:
            rows: the new rows, as they are appended.
            batch: the batch.
            paths: the files, relative to the feed's location; empty for all of the batch.
        """
        kept: Any = self.rows(batch).agg(f.max("_row_number")).first()
        shift = 0 if kept[0] is None else kept[0] + 1  # row numbers are unique within a batch
        stamped = self.stamped(rows.withColumn("_row_number", f.col("_row_number") + f.lit(shift)), batch)
        replace_rows(stamped, self.name, batch.batch_id, paths)
        refresh(self._spark, self.name)

    def remove(self, batch: Batch) -> None:
        """Delete the rows of a batch."""
        self._spark.sql(f"delete from {self.name} where _batch_id = {batch.batch_id}")

    def rows(self, batch: Batch) -> DataFrame:
        """Return the rows of a batch."""
        return self._spark.table(self.name).where(f"_batch_id = {batch.batch_id}")

    def appended(self, batch: Batch) -> Counted | None:
        """Count the records of a batch without a query.

        Returns:
            None if the newest commit is not that of the batch, or lacks statistics: then count the rows.
        """
        if table_format(self._spark) != DELTA:
            return None
        found = log_of(self._spark, self.name).appended(self.writer, batch.batch_id)
        if found is None or "_corrupt_record" not in found.nulls:
            return None
        rescued = found.rows - found.nulls["_rescued_data"] if "_rescued_data" in found.nulls else None
        return Counted(found.rows, found.rows - found.nulls["_corrupt_record"], rescued)

    def counted_as(self, file: str = "_source_file") -> str:
        """Return SQL for what a row is counted as: its file, or RETRACTED if the row retracts a key."""
        return f"if({self.of_files}, {file}, '{RETRACTED}')" if self._retracts else file

    @property
    def of_files(self) -> str:
        """SQL that is true for the rows of files, false for those that retract a key."""
        return "not coalesce(_is_deleted, false) and _first_batch_id is null" if self._retracts else "true"

    def counts(self, batch: Batch) -> dict[str, Counted]:
        """Count the records of a batch by `_source_file`, and those that retract keys as RETRACTED."""
        path = batch.files[0].path
        is_plain = len(batch.files) == 1 and not path.lower().endswith(".zip")  # whose rows have other paths
        if is_plain and (appended := self.appended(batch)):
            if appended.rescued is not None:
                return {path: appended}
            self._count_nulls("_rescued_data")
        columns = (f.count("*"), f.count("_corrupt_record"), f.count("_rescued_data"))
        counts = self.rows(batch).groupBy(f.expr(self.counted_as())).agg(*columns)
        return {source: Counted(*numbers) for source, *numbers in counts.collect()}

    def _count_nulls(self, column: str) -> None:
        """Let Delta keep the number of NULLs of a column of a table that an earlier release has created."""
        kept = log_of(self._spark, self.name).state()["properties"].get(STATISTICS)
        if kept and column not in map(str.strip, kept.split(",")):
            set_properties(self._spark, self.name, {STATISTICS: f"{kept},{column}"})

    def has(self, batch: Batch) -> bool:
        """Return whether a batch was appended."""
        return not self.rows(batch).isEmpty()

    def identity(self) -> str:
        """Return the id of the table; another table with the same name has another id."""
        return identity_of(self._spark, self.name)

    def location(self) -> str:
        """Return the table's folder."""
        return location_of(self._spark, self.name)

    def last_batch(self) -> int:
        """Return the highest batch number that was appended to the table; 0 if there is none.

        Delta's log has it. Otherwise a simple `max` is answered from the files' statistics.
        """
        if self._last_batch is None and table_format(self._spark) == DELTA:
            self._last_batch = log_of(self._spark, self.name).last_number(self.writer)
        if self._last_batch is None:
            last: Any = self._spark.table(self.name).agg(f.max("_batch_id")).first()
            self._last_batch = last[0] or 0
        return self._last_batch

    def stamped(self, rows: DataFrame, batch: Batch) -> DataFrame:
        """Return a batch's rows with all columns of the table, as they may be appended."""
        names = [in_sql(target.name) for target in self.targets]
        stamps = {"_batch_id": f.lit(batch.batch_id), "_ingested_at": f.lit(batch.planned_at)}
        if self._retracts:
            stamps |= {"_is_deleted": f.lit(False), "_first_batch_id": f.lit(None).cast("bigint")}
        stamped = rows.withColumns(stamps).select(*names, *self._metadata_names)
        return self.admitted(stamped)

    def admitted(self, rows: DataFrame) -> DataFrame:
        """Return rows with the table's columns of the source as they may land: see `Admission`."""
        return self.admission.admitted(rows, [target.name for target in self.targets])
