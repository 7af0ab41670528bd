"""Landing a feed in bronze exactly once: plan, write, confirm.

The plan is written to the manifest first; the append to bronze carries the batch's number as a Delta
transaction (`txnAppId`, `txnVersion`), so a repeated append is skipped by Delta itself; then the manifest
says `landed`. Killed anywhere, the next run finishes the planned batch under the same number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import functions as f

from python_ingest.bronze import bronze_rows, format_of
from python_ingest.bronze_table import BronzeTable
from python_ingest.clock import Clock, utc_now
from python_ingest.contents import Contents
from python_ingest.contract import evolved_targets
from python_ingest.declarations import FileFeed
from python_ingest.errors import LandingError
from python_ingest.examining import BROKEN, Examined, Examiner, Landed, is_known_as_broken
from python_ingest.failures import broken_file
from python_ingest.manifest import Batch, Candidate, Manifest, Noted
from python_ingest.paths import spellings
from python_ingest.progress import Progress
from python_ingest.quarantine import Quarantine, check_broken_records
from python_ingest.replaying import Replayer
from python_ingest.schema_changes import SchemaChanges
from python_ingest.storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PART_BYTES = 32 * 2**20


class Lander:
    """Lands one feed.

    Args:
        spark: the session.
        feed: the declaration.
        ops_schema: the schema of the state tables.
        clock: gives the time that becomes `_ingested_at`.
        progress: is told how far the landing is.
    """

    def __init__(
        self,
        spark: SparkSession,
        feed: FileFeed,
        ops_schema: str,
        clock: Clock = utc_now,
        progress: Progress | None = None,
    ) -> None:
        self._feed = feed
        self._progress = progress or Progress(feed.name)
        self._clock = clock
        self._cores = spark.sparkContext.defaultParallelism
        self._storage = Storage(spark, feed)
        self._reader = format_of(spark, feed)
        self._bronze = BronzeTable(spark, feed)
        self._manifest = Manifest(spark, ops_schema, feed.name)
        self._schema_changes = SchemaChanges(spark, ops_schema, feed.name)
        self._quarantine = Quarantine(spark, ops_schema, feed.name)
        self._replayer = Replayer(self._reader, self._bronze, self._manifest, self._quarantine, clock)
        contents = Contents(
            spark,
            has_lines=self._reader.has_lines,
            has_headers=feed.external.file_format == "csv",
            max_bytes=feed.external.max_bytes,
        )
        self._examiner = Examiner(feed, self._storage, contents, self._reader, self._manifest)

    def land(self) -> Landed:
        """Land all files that are new or have changed, the oldest first, in batches of bounded size.

        Raises:
            LandingError: when the feed's location cannot be read, a landed file changed and may not, or the
                contract or a bound of broken records stops the batch.
        """
        outcome = Landed(self._feed.name)
        with self._begun(outcome) as listing:
            candidates = self._manifest.candidates(listing)
            outcome.known = listing.count() - len(candidates)
            broken = {c.file.path: str(c.rejected_reason) for c in candidates if is_known_as_broken(c)}
            outcome.rejected |= broken
            self._land_all([c for c in candidates if c.file.path not in broken], outcome)
        return outcome

    def replay(self) -> Landed:
        """Land again what was rejected: files that were set aside, and records that can be read by now.

        Raises:
            LandingError: as `land` does.
        """
        outcome = Landed(self._feed.name)
        with self._begun(outcome) as listing:
            candidates = self._manifest.candidates(listing)
            self._land_all([c for c in candidates if c.rejected_reason], outcome)
            self._replayer.replay(outcome)
        return outcome

    @contextmanager
    def _begun(self, outcome: Landed) -> Iterator[DataFrame]:
        """Make bronze ready and finish what an earlier run planned; give the listing."""
        listing = self._listing().persist()
        try:
            self._bronze.prepare(self._manifest.landed_batch)
            self._finish_planned(listing, outcome)
            yield listing
        finally:
            listing.unpersist()

    def _listing(self) -> DataFrame:
        external = self._feed.external
        listing = self._storage.listing(self._clock())
        newest = self._manifest.newest_time() if external.discovery == "modified_after" else None
        if newest is None:
            return listing
        is_late = f.col("modified_at") >= f.lit(newest - timedelta(seconds=external.overlap))
        marked = listing.join(self._manifest.open_paths(), on="path", how="left")
        return marked.where(is_late | f.col("is_open")).drop("is_open")

    def _land_all(self, candidates: Sequence[Candidate], outcome: Landed) -> None:
        self._progress.plan([candidate.file for candidate in candidates])
        for some in self._bounded(candidates):
            files, rows = outcome.files, outcome.rows
            self._progress.begin([candidate.file for candidate in some])
            accepted = self._examiner.examine(some, self._bronze.targets, outcome, self._clock())
            self._land_batch(accepted, outcome)
            self._progress.end(outcome.files - files, outcome.rows - rows)

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
        self._evolve(accepted, outcome)
        while accepted:
            batch = None
            try:
                rows = self._rows(accepted)
                check_broken_records(self._feed, rows)
                planned = [examined.plan for examined in accepted]
                batch = self._manifest.plan(planned, self._clock(), above=self._bronze.last_batch())
                self._bronze.append(rows, batch)
            except (Py4JJavaError, PySparkException) as error:
                sound, broken = self._sorted_out(error, accepted)
                if batch:
                    self._manifest.abandon(batch, f"{broken[0].file.path} is broken")
                self._manifest.note([*broken], self._clock())
                outcome.rejected |= {noted.file.path: str(noted.reason) for noted in broken}
                accepted = sound
            else:
                self._confirm(batch, partial(list, accepted), outcome)
                return

    def _evolve(self, accepted: Sequence[Examined], outcome: Landed) -> None:
        """Record the changes that the contract lets bronze follow, then follow them."""
        found = [(examined.file.path, change) for examined in accepted for change in examined.changes]
        new = self._schema_changes.record(found, self._clock())
        outcome.evolved += [change.column for change in new if change.kind != "missing_column"]
        for path, change in found:
            if change.kind == "missing_column":
                outcome.missing.setdefault(change.column, []).append(path)
        self._bronze.evolve(evolved_targets(self._bronze.targets, [change for _, change in found]))

    def _finish_planned(self, listing: DataFrame, outcome: Landed) -> None:
        """Finish the batch that an earlier run planned and did not confirm."""
        batch = self._manifest.unfinished()
        if batch is None:
            return
        if batch.is_replay:
            self._replayer.finish(batch, outcome)
            return

        def unchanged() -> list[Examined] | None:
            return self._examiner.unchanged(batch, listing, self._bronze.targets)

        if self._bronze.has(batch):
            self._confirm(batch, lambda: unchanged() or [], outcome)
        else:
            files = unchanged()
            if files is None:
                self._manifest.abandon(batch, "a file of the batch changed or went away")
                return
            try:
                self._bronze.append(self._rows(files), batch)
            except (Py4JJavaError, PySparkException) as error:
                broken, _ = self._broken(error, files)
                self._manifest.abandon(batch, f"{broken.file.path} is broken")
                return
            self._confirm(batch, lambda: files, outcome)
        outcome.resumed = batch.batch_id

    def _sorted_out(self, error: Exception, files: Sequence[Examined]) -> tuple[list[Examined], list[Noted]]:
        """Return the files that can be read, and those that cannot, after one of them made a job fail."""
        sound, noted = list(files), []
        while True:
            broken, reason = self._broken(error, sound)
            sound.remove(broken)
            noted.append(Noted(broken.plan, "rejected", reason))
            try:
                if sound:
                    self._rows(sound).write.format("noop").mode("overwrite").save()
                return sound, noted
            except (Py4JJavaError, PySparkException) as next_error:
                error = next_error

    def _broken(self, error: Exception, files: Sequence[Examined]) -> tuple[Examined, str]:
        """Return the file that made a write fail, with the reason; raise the error if it is none of them."""
        found = broken_file(error)
        broken = next(
            (examined for examined in files if found and found[0] in spellings(examined.file.uri)), None
        )
        if broken is None or found is None:
            raise error
        return broken, BROKEN + found[1]

    def _rows(self, files: Sequence[Examined]) -> DataFrame:
        """Read files, in no more parts than it takes: each gives a file of the table."""
        read = [(examined.file, examined.layout) for examined in files]
        rows = bronze_rows(self._reader, self._storage.root, read, self._bronze.targets)
        return rows.coalesce(max(self._cores, sum(file.size for file, _ in read) // PART_BYTES))

    def _confirm(self, batch: Batch, files: Callable[[], Sequence[Examined]], outcome: Landed) -> None:
        """Keep the broken records, and record the batch as landed.

        Args:
            batch: the batch, which bronze has.
            files: gives its files as they were examined, as far as they are still there; called only where
                records are broken, since a resumed batch is read anew for it.
            outcome: what the landing did so far.
        """
        counted = self._bronze.counts(batch)
        strangers = counted.keys() - {file.path for file in batch.files}
        if strangers:
            raise LandingError(
                f"{self._feed.table}, batch {batch.batch_id}: rows of files not planned: {strangers}.",
                "Bronze was written by something other than tidemark; restore the table and land again.",
            )
        if broken := {path for path, (_, number) in counted.items() if number}:
            layouts = {examined.file.path: examined.layout for examined in files()}
            names = {
                path: self._replayer.names(layouts[path]) if path in layouts else None for path in broken
            }
            self._quarantine.keep(self._bronze.rows(batch), batch, self._bronze.identity(), names)
        self._manifest.confirm(batch, {path: rows for path, (rows, _) in counted.items()})
        outcome.files += len(batch.files)
        outcome.rows += sum(rows for rows, _ in counted.values())
        outcome.broken += sum(number for _, number in counted.values())
