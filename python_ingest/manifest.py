"""The manifest of landed files: the table `ops.ingested_files`.

It is a log: a file gets a row `planned`, then `landed`; or `rejected` with a reason; or `abandoned` when
a planned file changed before it could be landed. The newest row of a path is its present state.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pyspark.sql.functions import expr

from python_ingest.storage import SourceFile
from python_ingest.tables import create_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COLUMNS = """
    feed string comment 'Name of the feed',
    path string comment 'Path of the file, relative to the location of the feed',
    size bigint comment 'Bytes',
    modified_at timestamp comment 'When the file was last modified',
    checksum string comment 'SHA-256 of the bytes',
    state string comment 'planned, landed, rejected or abandoned',
    reason string comment 'Why the file was rejected or abandoned',
    batch_id bigint comment 'The landing batch; null for a rejected file',
    row_count bigint comment 'Rows in bronze; null unless landed',
    recorded_at timestamp comment 'When the batch was planned or the file rejected',
    _sequence bigint comment 'Grows with each write to this feed: the newest row of a path has the highest'
"""
SCHEMA = ", ".join(line.split(" comment ")[0].strip() for line in COLUMNS.strip().splitlines())


@dataclass(frozen=True)
class PlannedFile:
    """A file of a batch that is planned, and perhaps not yet landed; no checksum if it cannot be read."""

    path: str
    size: int
    modified_at: datetime
    checksum: str | None


@dataclass(frozen=True)
class Batch:
    """A planned batch of one feed.

    Attributes:
        batch_id: grows by one with each batch of the feed.
        planned_at: UTC; becomes `_ingested_at`, so that a repeated write gives the same rows.
    """

    batch_id: int
    planned_at: datetime
    files: tuple[PlannedFile, ...]


@dataclass(frozen=True)
class Candidate:
    """A listed file that may be new, and what is known of its path.

    Attributes:
        file: the file as it is listed.
        landed_checksum: the checksum with which the path was last landed; None when it never was.
        landed_batch: the batch in which that was.
        landed_rows: the rows that it brought.
        rejected_reason: why the path was rejected, if that is its newest state.
    """

    file: SourceFile
    landed_checksum: str | None
    landed_batch: int | None
    landed_rows: int | None
    rejected_reason: str | None


class Manifest:
    """The manifest's rows of one feed.

    Args:
        spark: the session.
        schema: the schema of the state tables.
        feed: the feed's name.

    Attributes:
        landed_batch: the highest batch that is landed; 0 when there is none.
    """

    def __init__(self, spark: SparkSession, schema: str, feed: str) -> None:
        self._spark = spark
        self._feed = feed
        self._table = f"{schema}.ingested_files"
        create_table(spark, self._table, COLUMNS)
        last: Any = (
            self._newest()
            .selectExpr(
                "coalesce(max(_sequence), 0) as sequence",
                "coalesce(max(last_batch), 0) as batch_id",
                "min(if(state = 'planned', batch_id, null)) as unfinished",
                "coalesce(max(landed.batch_id), 0) as landed",
            )
            .first()
        )
        self._sequence: int = last["sequence"]
        self._last_batch: int = last["batch_id"]
        self._unfinished: int | None = last["unfinished"]
        self.landed_batch: int = last["landed"]

    def unfinished(self) -> Batch | None:
        """Return the batch that was planned and neither landed nor abandoned, if there is one.

        There is one at most: a run finishes or abandons it before it plans the next.
        """
        if self._unfinished is None:
            return None
        rows = self._newest().where(f"batch_id = {self._unfinished}").orderBy("path").collect()
        return Batch(self._unfinished, rows[0]["recorded_at"], tuple(_planned(row) for row in rows))

    def candidates(self, files: Sequence[SourceFile]) -> list[Candidate]:
        """Return the listed files whose newest state is not landed with this size and time."""
        if not files:
            return []
        listing = self._spark.createDataFrame(
            [(position, f.path, f.size, f.modified_at) for position, f in enumerate(files)],
            "position int, path string, size bigint, modified_at timestamp",
        ).alias("listed")
        known = self._newest().alias("known")
        landed = "known.state = 'landed'"
        same = "known.size = listed.size and known.modified_at = listed.modified_at"
        new = listing.join(known, on="path", how="left").where(f"not coalesce({landed} and {same}, false)")
        picked = new.selectExpr(
            "position",
            "landed.checksum as landed_checksum",
            "landed.batch_id as landed_batch",
            "landed.row_count as landed_rows",
            "if(known.state = 'rejected', reason, null) as rejected_reason",
        ).orderBy("position")
        return [Candidate(files[row["position"]], *row[1:]) for row in picked.collect()]

    def plan(self, files: Sequence[PlannedFile], planned_at: datetime, above: int) -> Batch:
        """Record a new batch as planned and return it.

        Args:
            files: the batch's files.
            planned_at: UTC.
            above: the highest batch number in bronze: Delta would skip a number that is not above it.
        """
        batch = Batch(max(self._last_batch, above) + 1, planned_at, tuple(files))
        self._append((f, "planned", None, batch.batch_id, None, planned_at) for f in files)
        self._last_batch = batch.batch_id
        return batch

    def confirm(self, batch: Batch, row_counts: dict[str, int]) -> None:
        """Record a batch as landed, with its rows by path."""
        self._unfinished = None
        self._append(
            (f, "landed", None, batch.batch_id, row_counts.get(f.path, 0), batch.planned_at)
            for f in batch.files
        )

    def recognize(self, files: Sequence[tuple[PlannedFile, Candidate]], at: datetime) -> None:
        """Record the new time of files whose bytes are those that were landed."""
        self._append((f, "landed", None, known.landed_batch, known.landed_rows, at) for f, known in files)

    def abandon(self, batch: Batch, reason: str) -> None:
        """Record that a planned batch will not be landed as it was planned."""
        self._unfinished = None
        self._append((f, "abandoned", reason, batch.batch_id, None, batch.planned_at) for f in batch.files)

    def reject(self, files: Sequence[tuple[PlannedFile, str]], at: datetime) -> None:
        """Record files that cannot be landed, each with its reason."""
        self._append((f, "rejected", reason, None, None, at) for f, reason in files)

    def _append(
        self,
        outcomes: Iterable[tuple[PlannedFile, str, str | None, int | None, int | None, datetime]],
    ) -> None:
        self._sequence += 1
        rows = [
            (
                self._feed,
                f.path,
                f.size,
                f.modified_at,
                f.checksum,
                state,
                reason,
                batch,
                count,
                at,
                self._sequence,
            )
            for f, state, reason, batch, count, at in outcomes
        ]
        frame = self._spark.createDataFrame(rows, SCHEMA)
        frame.coalesce(1).write.format("delta").mode("append").saveAsTable(self._table)

    def _rows(self) -> DataFrame:
        return self._spark.table(self._table).where(f"feed = '{self._feed}'")

    def _newest(self) -> DataFrame:
        landed = "struct(checksum, batch_id, row_count), _sequence) filter (where state = 'landed')"
        columns = "path, size, modified_at, checksum, state, reason, batch_id, recorded_at, _sequence"
        return (
            self._rows()
            .groupBy("path")
            .agg(
                expr(f"max_by(struct({columns}), _sequence) as newest"),
                expr(f"max_by({landed} as landed"),
                expr("max(batch_id) as last_batch"),
            )
            .select("newest.*", "landed", "last_batch")
        )


def _planned(row: Any) -> PlannedFile:
    return PlannedFile(row["path"], row["size"], row["modified_at"], row["checksum"])
