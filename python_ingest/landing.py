"""Landing a feed in bronze exactly once: plan, write, confirm.

The plan is written to the manifest first; the append to bronze carries the batch's number as a Delta
transaction (`txnAppId`, `txnVersion`), so a repeated append is skipped by Delta itself; then the manifest
says `landed`. Killed anywhere, the next run finishes the planned batch under the same number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import functions as f

from python_ingest.bronze import METADATA, bronze_rows, format_of
from python_ingest.contents import Contents
from python_ingest.declarations import Feed
from python_ingest.errors import LandingError
from python_ingest.examining import BROKEN, Examined, Examiner, Landed
from python_ingest.failures import broken_file
from python_ingest.manifest import Batch, Candidate, Manifest, Noted
from python_ingest.paths import spellings
from python_ingest.storage import Storage
from python_ingest.tables import create_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Clock = Callable[[], datetime]
PROPERTIES = {
    "delta.enableChangeDataFeed": "true",
    "delta.dataSkippingStatsColumns": "_batch_id,_ingested_at,_source_file",
}


def utc_now() -> datetime:
    """Return the present time in UTC."""
    return datetime.now(timezone.utc)


class Lander:
    """Lands one feed.

    Args:
        spark: the session.
        feed: the declaration.
        ops_schema: the schema of the state tables.
        clock: gives the time that becomes `_ingested_at`.
    """

    def __init__(self, spark: SparkSession, feed: Feed, ops_schema: str, clock: Clock = utc_now) -> None:
        self._spark = spark
        self._feed = feed
        self._clock = clock
        self._storage = Storage(spark, feed)
        self._reader = format_of(spark, feed)
        self._manifest = Manifest(spark, ops_schema, feed.name)
        contents = Contents(spark, counts_first_lines=feed.external.file_format == "csv")
        self._examiner = Examiner(feed, self._storage, contents, self._reader, self._manifest)

    def land(self) -> Landed:
        """Land all files that are new or have changed, the oldest first, in batches of bounded size.

        Raises:
            LandingError: when the feed's location cannot be read, or a landed file changed and may not.
        """
        outcome = Landed(self._feed.name)
        listing = self._listing().persist()
        try:
            self._prepare_bronze()
            self._finish_planned(listing, outcome)
            candidates = self._manifest.candidates(listing)
            outcome.known = listing.count() - len(candidates)
            for some in self._bounded(candidates):
                self._land_batch(self._examiner.examine(some, outcome, self._clock()), outcome)
        finally:
            listing.unpersist()
        return outcome

    def _listing(self) -> DataFrame:
        external = self._feed.external
        listing = self._storage.listing(self._clock())
        newest = self._manifest.newest_time() if external.discovery == "modified_after" else None
        if newest is None:
            return listing
        return listing.where(f.col("modified_at") >= f.lit(newest - timedelta(seconds=external.overlap)))

    def _bounded(self, candidates: Sequence[Candidate]) -> Iterator[list[Candidate]]:
        """Cut candidates into batches of `max_files` and `max_bytes`; a file is never cut."""
        external = self._feed.external
        batch: list[Candidate] = []
        size = 0
        for candidate in candidates:
            full = len(batch) == external.max_files or size + candidate.file.size > external.max_bytes
            if batch and full:
                yield batch
                batch, size = [], 0
            batch.append(candidate)
            size += candidate.file.size
        if batch:
            yield batch

    def _land_batch(self, accepted: Sequence[Examined], outcome: Landed) -> None:
        """Plan, write, confirm; a file that breaks the write is set aside and the others are planned anew."""
        while accepted:
            planned = [examined.plan for examined in accepted]
            batch = self._manifest.plan(planned, self._clock(), above=self._last_batch_in_bronze())
            try:
                self._write(batch, accepted)
            except (Py4JJavaError, PySparkException) as error:
                broken, reason = self._broken(error, accepted)
                self._manifest.abandon(batch, f"{broken.file.path} is broken")
                self._manifest.note([Noted(broken.plan, "rejected", reason)], self._clock())
                outcome.rejected[broken.file.path] = reason
                accepted = [examined for examined in accepted if examined is not broken]
            else:
                self._confirm(batch, outcome)
                return

    def _finish_planned(self, listing: DataFrame, outcome: Landed) -> None:
        """Finish the batch that an earlier run planned and did not confirm."""
        batch = self._manifest.unfinished()
        if batch is None:
            return
        if not self._in_bronze(batch):
            files = self._examiner.unchanged(batch, listing)
            if files is None:
                self._manifest.abandon(batch, "a file of the batch changed or went away")
                return
            try:
                self._write(batch, files)
            except (Py4JJavaError, PySparkException) as error:
                broken, _ = self._broken(error, files)
                self._manifest.abandon(batch, f"{broken.file.path} is broken")
                return
        self._confirm(batch, outcome)
        outcome.resumed = batch.batch_id

    def _broken(self, error: Exception, files: Sequence[Examined]) -> tuple[Examined, str]:
        """Return the file that made a write fail, with the reason; raise the error if it is none of them."""
        found = broken_file(error)
        broken = next(
            (examined for examined in files if found and found[0] in spellings(examined.file.uri)), None
        )
        if broken is None or found is None:
            raise error
        return broken, BROKEN + found[1]

    def _write(self, batch: Batch, files: Sequence[Examined]) -> None:
        read = [(examined.file, examined.layout) for examined in files]
        rows = bronze_rows(self._reader, self._storage.root, read).withColumns(
            {"_batch_id": f.lit(batch.batch_id), "_ingested_at": f.lit(batch.planned_at)}
        )
        (
            rows.select(*self._feed.column_names, *(column.split()[0] for column in METADATA))
            .write.format("delta")
            .mode("append")
            .option("txnAppId", f"tidemark.land.{self._feed.table}")
            .option("txnVersion", batch.batch_id)
            .saveAsTable(self._feed.table)
        )

    def _confirm(self, batch: Batch, outcome: Landed) -> None:
        counted = (
            self._spark.table(self._feed.table)
            .where(f"_batch_id = {batch.batch_id}")
            .groupBy("_source_file")
            .count()
            .collect()
        )
        row_counts = {row["_source_file"]: row["count"] for row in counted}
        strangers = set(row_counts) - {file.path for file in batch.files}
        if strangers:
            raise LandingError(
                f"{self._feed.table}, batch {batch.batch_id}: rows of files not planned: {strangers}.",
                "Bronze was written by something other than tidemark; restore the table and land again.",
            )
        self._manifest.confirm(batch, row_counts)
        outcome.files += len(batch.files)
        outcome.rows += sum(row_counts.values())

    def _in_bronze(self, batch: Batch) -> bool:
        rows = self._spark.table(self._feed.table).where(f"_batch_id = {batch.batch_id}")
        return not rows.isEmpty()

    def _last_batch_in_bronze(self) -> int:
        last = self._spark.table(self._feed.table).selectExpr("coalesce(max(_batch_id), 0)").first()
        return int(last[0]) if last else 0

    def _prepare_bronze(self) -> None:
        """Create the bronze table, or add the columns that were declared since."""
        table = self._feed.table
        declared = [f"{column.name} {column.data_type}" for column in self._feed.columns]
        if self._spark.catalog.tableExists(table):
            present = set(self._spark.table(table).columns)
            added = [column for column in declared if column.split()[0] not in present]
            if added:
                self._spark.sql(f"alter table {table} add columns ({', '.join(added)})")
            return
        if self._manifest.landed_batch:
            raise LandingError(
                f"{table} does not exist, but its batches up to {self._manifest.landed_batch} were landed.",
                "Restore it; or, to land all its files again, delete the feed's rows of ops.ingested_files.",
            )
        create_table(self._spark, table, ", ".join((*declared, *METADATA)), PROPERTIES)
