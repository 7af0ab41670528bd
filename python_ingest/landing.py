"""Landing a feed in bronze exactly once: plan, write, confirm.

The plan is written to the manifest first; the append to bronze carries the batch's number as a Delta
transaction (`txnAppId`, `txnVersion`), so a repeated append is skipped by Delta itself; then the manifest
says `landed`. Killed anywhere, the next run finishes the planned batch under the same number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import functions as f

from python_ingest.build import plain_message
from python_ingest.csv_header import Header, Rejection, check_header
from python_ingest.declarations import Feed
from python_ingest.errors import LandingError
from python_ingest.manifest import Batch, Candidate, Manifest, PlannedFile
from python_ingest.reading import METADATA, read_csv
from python_ingest.storage import SourceFile, Storage
from python_ingest.tables import create_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Clock = Callable[[], datetime]
PROPERTIES = {
    "delta.enableChangeDataFeed": "true",
    "delta.dataSkippingStatsColumns": "_batch_id,_ingested_at,_source_file",
}


@dataclass
class Landed:
    """What one landing of a feed did.

    Attributes:
        feed: the feed's name.
        files: files landed now.
        rows: rows landed now.
        known: listed files that had been landed before and have not changed.
        rejected: paths of files set aside, with the reason.
        resumed: number of the batch that an earlier run had planned and this one finished.
    """

    feed: str
    files: int = 0
    rows: int = 0
    known: int = 0
    rejected: dict[str, str] = field(default_factory=dict)
    resumed: int | None = None


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
        self._manifest = Manifest(spark, ops_schema, feed.name)

    def land(self) -> Landed:
        """Land all files that are new or have changed.

        Raises:
            LandingError: when the feed's location cannot be read.
        """
        outcome = Landed(self._feed.name)
        listed = self._storage.files()
        self._prepare_bronze()
        self._finish_planned(listed, outcome)
        accepted = self._examine(listed, outcome)
        if accepted:
            files = [plan for _, _, plan in accepted]
            batch = self._manifest.plan(files, self._clock(), above=self._last_batch_in_bronze())
            self._write(batch, [(file, header) for file, header, _ in accepted])
            self._confirm(batch, outcome)
        return outcome

    def _finish_planned(self, listed: Sequence[SourceFile], outcome: Landed) -> None:
        """Finish the batch that an earlier run planned and did not confirm."""
        batch = self._manifest.unfinished()
        if batch is None:
            return
        if not self._in_bronze(batch):
            files = self._unchanged(batch, listed)
            if files is None:
                self._manifest.abandon(batch, "a file of the batch changed or went away")
                return
            self._write(batch, files)
        self._confirm(batch, outcome)
        outcome.resumed = batch.batch_id

    def _examine(
        self, listed: Sequence[SourceFile], outcome: Landed
    ) -> list[tuple[SourceFile, Header, PlannedFile]]:
        """Choose the files to land; record those that cannot be."""
        accepted: list[tuple[SourceFile, Header, PlannedFile]] = []
        rejected: list[tuple[PlannedFile, str]] = []
        outcome.known = len(listed)
        recognized: list[tuple[PlannedFile, Candidate]] = []
        for candidate in self._manifest.candidates(listed):
            file = candidate.file
            plan, header = self._read(file)
            if plan.checksum and plan.checksum == candidate.landed_checksum:
                recognized.append((plan, candidate))
                continue
            outcome.known -= 1
            if isinstance(header, Header):
                accepted.append((file, header, plan))
                continue
            outcome.rejected[file.path] = header.reason
            if header.reason != candidate.rejected_reason:
                rejected.append((plan, header.reason))
        if rejected:
            self._manifest.reject(rejected, self._clock())
        if recognized:
            self._manifest.recognize(recognized, self._clock())
        return accepted

    def _read(self, file: SourceFile) -> tuple[PlannedFile, Header | Rejection]:
        """Read a file's checksum and header; a file that cannot be read is set aside, and tried again."""
        header: Header | Rejection
        checksum = None
        try:
            checksum = self._storage.checksum(file)
            header = check_header(self._storage.head(file), self._feed)
        except (Py4JJavaError, PySparkException) as error:
            header = Rejection(f"cannot be read: {plain_message(str(error)).splitlines()[-1].strip()}")
        return PlannedFile(file.path, file.size, file.modified_at, checksum), header

    def _unchanged(
        self, batch: Batch, listed: Sequence[SourceFile]
    ) -> list[tuple[SourceFile, Header]] | None:
        """Return the batch's files with their headers, or None when one is not as it was planned."""
        by_path = {file.path: file for file in listed}
        found: list[tuple[SourceFile, Header]] = []
        for planned in batch.files:
            file = by_path.get(planned.path)
            if file is None:
                return None
            read, header = self._read(file)
            if read.checksum != planned.checksum or isinstance(header, Rejection):
                return None
            found.append((file, header))
        return found

    def _write(self, batch: Batch, files: Sequence[tuple[SourceFile, Header]]) -> None:
        rows = read_csv(self._spark, self._feed, files).withColumns(
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
        declared = [f"{name} string" for name in self._feed.column_names]
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
