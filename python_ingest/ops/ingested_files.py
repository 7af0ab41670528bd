"""The files that landed: the table `ops.ingested_files`.

The table is a log. A file gets a row `planned`, then `landed`; or `rejected`, with a reason; or `abandoned`,
if it could not land as it was planned, because it changed, is broken, or must be read in another way; or
`ignored`, if it changed afterwards and must not land again; or `removed`, if it is gone and its keys were
retracted. The newest row of a path is its current state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pyspark.sql import Observation
from pyspark.sql import functions as f

from python_ingest.feeds.source_file import source_file
from python_ingest.ops.batch import REPLAY, RETRACTED, Batch, PlannedFile
from python_ingest.ops.candidate import Candidate, Compared, Noted
from python_ingest.ops.feed_table import FeedTable
from python_ingest.ops.left_out import left_out_of, measures
from tidemark.base.clock import utc_time

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COLUMNS = """
    feed string comment 'Name of the feed',
    path string comment 'Path of the file, relative to the location of the feed',
    size bigint comment 'Bytes',
    modified_at timestamp comment 'When the file was last modified',
    checksum string comment 'SHA-256 of the bytes',
    state string comment 'planned, landed, removed, rejected, ignored or abandoned',
    reason string comment 'Why the file was rejected, ignored or abandoned',
    batch_id bigint comment 'The landing batch; null for a rejected file',
    row_count bigint comment 'Rows in bronze; null unless landed',
    recorded_at timestamp comment 'When the batch was planned or the file rejected',
    _sequence bigint comment 'Grows with each write to this feed: the newest row of a path has the highest'
"""
LISTED = "struct<whole: string, size: bigint, modified_at: timestamp, is_left_out: boolean>"
NEWEST = (  # the newest row of a path, and how it landed last, unless it was removed since
    "max_by(struct(path, size, modified_at, state, reason), _sequence) as newest",
    "max_by(if(state = 'landed', struct(checksum, batch_id, row_count), null), _sequence) "
    "filter (where state in ('landed', 'removed')) as before",
)


MAX_FILES = 100_000  # files that a landing plans at once
HIGHEST = ("sequence", "batch", "closed", "landed")


@dataclass
class Last:
    """The highest numbers in a feed's rows; 0 if there are none.

    Attributes:
        sequence: of any row.
        batch: of any batch.
        closed: of a landed or abandoned batch.
        landed: of a landed batch.
    """

    sequence: int = 0
    batch: int = 0
    closed: int = 0
    landed: int = 0


LAST = (
    "coalesce(max(_sequence), 0) as sequence",
    "coalesce(max(batch_id), 0) as batch",
    "coalesce(max(batch_id) filter (where state in ('landed', 'abandoned')), 0) as closed",
    "coalesce(max(batch_id) filter (where state = 'landed'), 0) as landed",
)


class IngestedFiles(FeedTable):
    """The rows of one feed in `ops.ingested_files`.

    Args:
        spark: the session.
        schema: the schema of the state tables.
        feed: the feed's name.
    """

    def __init__(self, spark: SparkSession, schema: str, feed: str) -> None:
        super().__init__(spark, schema, feed, "ingested_files", COLUMNS)
        self._create()
        self._known_last: Last | None = None

    @property
    def landed_batch(self) -> int:
        """The highest batch that landed; 0 if there is none."""
        return self._last.landed

    @property
    def _last(self) -> Last:
        """The highest numbers: `compare` reads them with its own query; otherwise a query reads them."""
        if self._known_last is None:
            row: Any = self._rows().selectExpr(*LAST).first()
            self._known_last = Last(*row)
        return self._known_last

    def unfinished(self) -> Batch | None:
        """Return the batch that was planned but neither landed nor abandoned, or None.

        There is at most one: a run finishes or abandons it before it plans the next batch.
        """
        if self._last.batch <= self._last.closed:
            return None
        return self.planned(self._last.batch)

    def planned(self, batch_id: int) -> Batch:
        """Return a batch as it was planned."""
        rows = (
            self._rows()
            .where(f"state = 'planned' and batch_id = {batch_id}")
            .selectExpr("*", "unix_micros(modified_at) as modified", "unix_micros(recorded_at) as recorded")
            .orderBy("path")
            .collect()
        )
        return Batch(batch_id, utc_time(rows[0]["recorded"]), tuple(_planned(row) for row in rows))

    def landed(self) -> DataFrame:
        """Return the number of rows of each landed file: `batch_id`, `path`, `landed`.

        A file that changed appears once per batch. `path` is null for a batch of rejected records.
        """
        landed = self._rows().where("state = 'landed'").groupBy("batch_id", "path")
        rows = landed.agg(f.expr("max_by(row_count, _sequence) as landed"))
        return rows.selectExpr("batch_id", f"nullif(path, '{REPLAY}') as path", "landed")

    def compare(self, listing: DataFrame, *, only_rejected: bool = False) -> Compared:
        """Return the listed files whose newest state is not landed with this size and time.

        It takes one query, which reads `ops.ingested_files` once and also observes the highest numbers. At
        most MAX_FILES files come to this process; those that were rejected as they are come last.

        Args:
            listing: from `Storage.listing`.
            only_rejected: return only files whose newest state is rejected.
        """
        rows = self._rows().withColumn("listed", f.lit(None).cast(LISTED))
        listed = f.struct("whole", "size", "modified_at", "is_left_out").alias("listed")
        files = listing.select("path", listed)
        by_path = (
            rows.unionByName(files, allowMissingColumns=True)
            .groupBy("path")
            .agg(f.max("listed").alias("listed"), *map(f.expr, (*NEWEST, *LAST)))
        )
        same = "newest.size = listed.size and newest.modified_at = listed.modified_at"
        done = f"newest.state in ('landed', 'ignored') and {same}"
        is_new = f"listed is not null and not listed.is_left_out and not coalesce({done}, false)"
        totals = Observation()
        found = (
            by_path.observe(
                totals,
                f.expr(f"count_if({is_new}) as new"),
                f.expr("count_if(not listed.is_left_out) as listed"),
                *map(f.expr, measures("listed.is_left_out")),
                *(f.expr(f"coalesce(max({name}), 0) as {name}") for name in HIGHEST),
            )
            .where(f"{is_new} and newest.state = 'rejected'" if only_rejected else is_new)
            .selectExpr(
                *("path", "listed.whole", "listed.size", "unix_micros(listed.modified_at) as modified"),
                *("before.checksum", "before.batch_id", "before.row_count"),
                "if(newest.state = 'rejected', newest.reason, null) as reason",
                f"coalesce({same}, false) as is_same",
            )
            .orderBy(f.expr("reason is not null and is_same"), "modified", "path")
            .limit(MAX_FILES)
            .collect()
        )
        counts = totals.get
        self._known_last = Last(*(counts[name] for name in HIGHEST))
        candidates = sorted((Candidate(source_file(*row[:4]), *row[4:]) for row in found), key=_age)
        known = counts["listed"] - counts["new"]
        return Compared(candidates, known, len(found) == MAX_FILES, left_out_of(counts))

    def open_paths(self) -> DataFrame:
        """Return the paths (`path`, `is_open`) that are known but have not landed: rejected or abandoned."""
        is_open = "state not in ('landed', 'ignored', 'removed')"
        return self._newest().where(is_open).selectExpr("path", "true as is_open")

    def live(self) -> DataFrame:
        """Return the files that landed and were not removed: `path`, `batch_id`, `size`, `modified_at`."""
        last = "max_by(struct(state, batch_id, size, modified_at), _sequence) as last"
        is_file = f"path not in ('{REPLAY}', '{RETRACTED}')"
        rows = self._rows().where(f"state in ('landed', 'removed') and {is_file}")
        live = rows.groupBy("path").agg(f.expr(last)).where("last.state = 'landed'")
        return live.select("path", "last.batch_id", "last.size", "last.modified_at")

    def removed(self, listing: DataFrame) -> tuple[list[tuple[PlannedFile, int]], int]:
        """Return the live files that a listing lacks, each with its batch, and the number of live files."""
        live = self.live()
        rows = live.join(listing.select("path"), on="path", how="left_anti").orderBy("path")
        found = rows.selectExpr("*", "unix_micros(modified_at) as modified", "null as checksum").collect()
        return [(_planned(row), row["batch_id"]) for row in found], live.count() if found else 0

    def newest_time(self) -> datetime | None:
        """Return the latest modification time of all files that landed."""
        row = self._rows().where("state = 'landed'").selectExpr("unix_micros(max(modified_at))").first()
        return utc_time(row[0]) if row and row[0] is not None else None

    def plan(self, files: Sequence[PlannedFile], planned_at: datetime, above: int) -> Batch:
        """Record a new batch as planned and return it.

        Args:
            files: the batch's files.
            planned_at: UTC.
            above: the highest batch number in bronze: Delta would skip this or a lower number.
        """
        batch = Batch(max(self._last.batch, above) + 1, planned_at, tuple(files))
        self.note([Noted(file, "planned", None, batch.batch_id) for file in files], planned_at)
        self._last.batch = batch.batch_id
        return batch

    def confirm(self, batch: Batch, row_counts: dict[str, int]) -> None:
        """Record a batch as landed, with its number of rows per path; and which files it removed."""
        counts = [row_counts.get(file.path, 0) for file in batch.files]
        self._close(batch, "landed", None, counts)

    def abandon(self, batch: Batch, reason: str) -> None:
        """Record that a planned batch will not be landed as it was planned."""
        self._close(batch, "abandoned", reason, [None] * len(batch.files))

    def _close(self, batch: Batch, state: str, reason: str | None, counts: Sequence[int | None]) -> None:
        self._last.closed = max(self._last.closed, batch.batch_id)
        if state == "landed":
            self._last.landed = max(self._last.landed, batch.batch_id)
        files = zip(batch.files, counts, strict=True)
        closed = [
            Noted(f, "removed", "gone from the location", batch.batch_id)
            if f.is_removed and state == "landed"
            else Noted(f, state, reason, batch.batch_id, count)
            for f, count in files
        ]
        self.note(closed, batch.planned_at)

    def note(self, outcomes: Sequence[Noted], at: datetime) -> None:
        """Record the outcome for files, in one commit; do nothing if there are none."""
        if not outcomes:
            return
        self._last.sequence = number = self._last.sequence + 1
        self._add([(*astuple(noted.file), *astuple(noted)[1:], at, number) for noted in outcomes])

    def _newest(self) -> DataFrame:
        return self._rows().groupBy("path").agg(f.expr(NEWEST[0])).select("newest.*")


def _age(candidate: Candidate) -> tuple[datetime, str]:
    return candidate.file.modified_at, candidate.file.path


def _planned(row: Any) -> PlannedFile:
    return PlannedFile(row["path"], row["size"], utc_time(row["modified"]), row["checksum"])
