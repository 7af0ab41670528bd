"""Retract the keys of rows that disappeared from a feed's files: `on_removed: retract`.

Bronze only grows. The batch that notices the change gets a tombstone for each key whose rows in a file have
changed: the key's last row with `_is_deleted`. With the tombstone come the key's rows of all other files that
are still there, as copies that name the batch in which they landed first (`_first_batch_id`). So the state of
a key follows from its last tombstone and from the rows that landed with it or after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as f

from python_ingest.bronze.columns import in_sql
from python_ingest.bronze.lost_rows import FILE
from python_ingest.bronze.table import BronzeTable
from python_ingest.feeds.declarations import FileFeed
from python_ingest.files.formats.rescue import TIMES
from python_ingest.files.grain import key_columns
from python_ingest.files.inspect_files import Examined
from python_ingest.files.outcome import LandedFiles
from python_ingest.files.storage import Storage
from python_ingest.ops.batch import RETRACTED, Batch, PlannedFile
from python_ingest.ops.ingested_files import IngestedFiles
from tidemark.base.clock import Clock
from tidemark.base.errors import LandingError
from tidemark.base.output import count_of, first_of
from tidemark.lake.tables import local_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PLAN = PlannedFile(RETRACTED, 0, datetime(1970, 1, 1, tzinfo=UTC), None)
LAST_LANDED = ("_batch_id", "_source_modified_at", "_source_file", "_row_number")
FIRST_NUMBER = 2**60  # above the row numbers that Spark gives to the rows of files
ORIGINAL = "not coalesce(_is_deleted, false) and _first_batch_id is null and _corrupt_record is null"


class Retraction:
    """Finds what disappeared from the files of one feed, and the rows that retract it.

    Args:
        spark: the session.
        feed: the feed, with `on_removed: retract`.
        bronze: its table.
        ingested_files: the record of landed files.
        storage: the location of the files.
    """

    def __init__(
        self,
        spark: SparkSession,
        feed: FileFeed,
        bronze: BronzeTable,
        ingested_files: IngestedFiles,
        storage: Storage,
    ) -> None:
        self._spark = spark
        self._feed = feed
        self._bronze = bronze
        self._ingested_files = ingested_files
        self._storage = storage

    def land_removed(self, outcome: LandedFiles, clock: Clock) -> None:
        """Retract the keys of files that are gone, in a batch of their own.

        Raises:
            LandingError: if more files are gone than the feed allows.
        """
        removed = self._removed(clock()) if self._feed.external.retracts else []
        if not removed:
            return
        files = [*(file for file, _ in removed), PLAN]
        batch = self._ingested_files.plan(files, clock(), above=self._bronze.last_batch())
        with self._rows(batch, {file.path: landed for file, landed in removed}, None) as rows:
            self._bronze.append(rows.limit(0), batch, rows)
        self._ingested_files.confirm(batch, {RETRACTED: self._bronze.rows(batch).count()})
        self.count(batch, outcome)

    def plan(self, files: Sequence[Examined]) -> list[PlannedFile]:
        """Return what to plan for files: with rows that retract keys if one replaces earlier content."""
        return [*(one.plan for one in files), *([PLAN] if self._replaced(files) else [])]

    def append(
        self,
        batch: Batch,
        rows: DataFrame,
        files: Sequence[Examined],
        read: Callable[[Sequence[Examined]], DataFrame],
    ) -> None:
        """Append a batch once, with tombstones and copies if files replace earlier content.

        Args:
            batch: the batch.
            rows: the rows of its files.
            files: its files.
            read: returns the rows of some of them.
        """
        replaced = self._replaced(files)
        if not replaced:
            self._bronze.append(rows, batch)
            return
        landed = {one.file.path: one.replaces for one in replaced if one.replaces}
        with self._rows(batch, landed, self._bronze.stamped(read(replaced), batch)) as more:
            self._bronze.append(rows, batch, more)

    def count(self, batch: Batch, outcome: LandedFiles) -> None:
        """Add what a landed batch has retracted to the outcome."""
        if batch.retracts:
            outcome.removed += [file.path for file in batch.removed]
            outcome.retracted += self._bronze.rows(batch).where("_is_deleted").count()

    def _replaced(self, files: Sequence[Examined]) -> list[Examined]:
        return [one for one in files if one.replaces] if self._feed.external.retracts else []

    def _removed(self, now: datetime) -> list[tuple[PlannedFile, int]]:
        """Return the landed files that are gone, with their batch; a file that is still being
        written is not gone.

        Raises:
            LandingError: if more files are gone than `max_removed_share` allows.
        """
        removed, number = self._ingested_files.removed(self._storage.listing(now, settled=False))
        most = self._feed.external.max_removed_share
        if removed and len(removed) > most * number:
            location = self._feed.external.location
            raise LandingError(
                f"Feed '{self._feed.name}': {len(removed):,} of {count_of(number, 'landed file')} are gone "
                f"from {location} ({first_of([file.path for file, _ in removed])}), so nothing landed "
                f"(max_removed_share: {most}).",
                "Check that the location is the right one and complete. If the files were removed on "
                f"purpose, raise `max_removed_share` in {self._feed.declared_in} for one landing.",
            )
        return removed

    @contextmanager
    def _rows(
        self, batch: Batch, replaced: Mapping[str, int], fresh: DataFrame | None
    ) -> Iterator[DataFrame]:
        """Yield the tombstones and copies of a batch, with all columns of bronze.

        Args:
            batch: the batch.
            replaced: by path, the batch of the content that is no longer there.
            fresh: the new rows of these files as they are appended; None if the files are gone.
        """
        paths = local_rows(self._spark, "path string, batch_id bigint", [*replaced.items()])
        held = self._spark.table(self._bronze.name).where(ORIGINAL).where(f"_batch_id < {batch.batch_id}")
        held = self._with_key(held)
        last = self._of_files(held, paths)
        changed = self._changed(last, fresh).persist()
        try:
            live = self._ingested_files.live().join(f.broadcast(paths), on="path", how="left_anti")
            others = self._of_files(held.join(changed, on="_key", how="left_semi"), live)
            tombstones = self._tombstones(last.join(changed, on="_key", how="left_semi"))
            copies = others.withColumn("_first_batch_id", f.col("_batch_id"))
            yield self._stamped(tombstones.unionByName(copies), batch)
        finally:
            changed.unpersist()

    def _changed(self, last: DataFrame, fresh: DataFrame | None) -> DataFrame:
        """Return the keys (`_key`) whose rows in one of the files are not the same as before."""
        names = [*(in_sql(target.name) for target in self._bronze.targets), "_rescued_data"]
        content = f.xxhash64(f.to_json(f.struct(*names), TIMES))

        def contents(rows: DataFrame, *, was_there: bool) -> DataFrame:
            is_old = f.lit(was_there).alias("was_there")
            return rows.select("_source_file", "_key", content.alias("content"), is_old)

        both = contents(last, was_there=True)
        if fresh is not None:
            readable = self._with_key(fresh.where("_corrupt_record is null"))
            both = both.unionByName(contents(readable, was_there=False))
        by_key = both.groupBy("_source_file", "_key").agg(
            f.expr("array_sort(collect_set(content) filter (where was_there)) as before"),
            f.expr("array_sort(collect_set(content) filter (where not was_there)) as after"),
        )
        return by_key.where("size(before) > 0 and before != after").select("_key").distinct()

    def _with_key(self, rows: DataFrame) -> DataFrame:
        """Add `_key`, the values of the key as one text."""
        values = (value.alias(name) for name, value in key_columns(self._feed, rows).items())
        return rows.withColumn("_key", f.to_json(f.struct(*values), TIMES | {"ignoreNullFields": "false"}))

    @staticmethod
    def _of_files(rows: DataFrame, files: DataFrame) -> DataFrame:
        """Return rows of the present content of files (`path`, `batch_id`), with replayed ones."""
        one = rows.withColumn("_file", f.expr(FILE)).alias("rows")
        same = f.expr("rows._file = files.path and rows._batch_id >= files.batch_id")
        return one.join(f.broadcast(files).alias("files"), on=same, how="left_semi").drop("_file")

    @staticmethod
    def _tombstones(last: DataFrame) -> DataFrame:
        """Return the last row of each key, as deleted."""
        newest = Window.partitionBy("_key").orderBy(*map(f.desc, LAST_LANDED))
        rows = last.withColumn("_rank", f.row_number().over(newest)).where("_rank = 1").drop("_rank")
        return rows.withColumn("_is_deleted", f.lit(True))

    def _stamped(self, rows: DataFrame, batch: Batch) -> DataFrame:
        ordered = rows.repartition(1).sortWithinPartitions(*LAST_LANDED)
        number = f.monotonically_increasing_id() + f.lit(FIRST_NUMBER)
        stamps = {"_batch_id": f.lit(batch.batch_id), "_ingested_at": f.lit(batch.planned_at)}
        stamped = ordered.withColumn("_row_number", number).withColumns(stamps).drop("_key")
        return stamped.select(*map(in_sql, self._spark.table(self._bronze.name).columns))
