"""Land a feed in bronze exactly once: plan, write, confirm.

The plan is first written to `ops.ingested_files`. The append to bronze carries the batch number as a Delta
transaction (`txnAppId`, `txnVersion`), so Delta itself skips a repeated append. Then the files are recorded
as landed. If a run is killed at any point, the next run finishes the planned batch with the same number.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from python_ingest.bronze.contract import evolved_targets
from python_ingest.bronze.history import Doubt
from python_ingest.bronze.lost_rows import LostRows
from python_ingest.bronze.table import BronzeTable
from python_ingest.feeds.declarations import FileFeed
from python_ingest.files.backlog import bounded, files_to_list
from python_ingest.files.broken_files import broken_one, is_open_quote, split_broken
from python_ingest.files.confirmation import Confirmation
from python_ingest.files.contents import Contents
from python_ingest.files.grain import Grain
from python_ingest.files.inspect_files import Examined, Examiner, is_known_as_broken
from python_ingest.files.landing_again import LandingAgain
from python_ingest.files.outcome import LandedFiles
from python_ingest.files.progress import Progress
from python_ingest.files.replay import Replayer
from python_ingest.files.retraction import Retraction
from python_ingest.files.rows import Places, bronze_rows, format_of
from python_ingest.files.storage import Storage
from python_ingest.files.unpacking import Unpacker
from python_ingest.ops.bronze_checks import BronzeChecks, Lost
from python_ingest.ops.candidate import Candidate, Compared
from python_ingest.ops.ingested_files import IngestedFiles
from python_ingest.ops.rejected_records import Quarantine, check_broken_records
from python_ingest.ops.schema_changes import SchemaChanges
from tidemark.base.clock import Clock, utc_now

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PART_BYTES = 32 * 2**20


class Lander:
    """Lands one feed.

    Args:
        spark: the session.
        feed: the declaration.
        ops_schema: the schema of the state tables.
        clock: returns the time that becomes `_ingested_at`.
        progress: is informed about the progress of the landing.
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
        self._bronze = BronzeTable(spark, feed, ops_schema=ops_schema)
        self._ingested_files = IngestedFiles(spark, ops_schema, feed.name)
        self._schema_changes = SchemaChanges(spark, ops_schema, feed.name)
        self._quarantine = Quarantine(spark, ops_schema, feed.name)
        self._replayer = Replayer(self._reader, self._bronze, self._ingested_files, self._quarantine, clock)
        contents = Contents(spark, feed.external, has_lines=self._reader.has_lines)
        unpacker = Unpacker(spark, feed, contents)
        self._places = Places(self._storage.root, unpacker.staging, feed.partition_names)
        self._examiner = Examiner(feed, self._storage, unpacker, self._reader, self._ingested_files)
        checks = BronzeChecks(spark, ops_schema, feed.name)
        self._retraction = Retraction(spark, feed, self._bronze, self._ingested_files, self._storage)
        self._grain = Grain(feed, self._bronze)
        self._confirmation = Confirmation(
            feed,
            self._bronze,
            self._ingested_files,
            self._quarantine,
            self._replayer,
            self._grain,
            self._retraction,
        )
        self._lost_rows = LostRows(spark, feed, self._bronze, self._ingested_files, checks)

    def land(self) -> LandedFiles:
        """Land all new and changed files, the oldest first, in batches of limited size.

        Raises:
            LandingError: if the feed's location cannot be read, a landed file changed against `on_change`,
                bronze lost landed rows, or the contract or the limit of broken records stops the batch.
        """
        outcome = LandedFiles(self._feed.name)
        with self._places.staging:
            self._land_new(outcome)
        return outcome

    def _land_new(self, outcome: LandedFiles) -> None:
        listing, compared = self._prepare(outcome)
        outcome.known, outcome.left_out = compared.known, compared.left_out
        self._retraction.land_removed(outcome, self._clock)
        while True:
            found = [c for c in compared.candidates if c.file.path not in outcome.rejected]
            outcome.rejected |= {c.file.path: str(c.rejected_reason) for c in found if is_known_as_broken(c)}
            new = [c for c in found if not is_known_as_broken(c)]
            self._land_all(new, outcome)
            if not (new and compared.has_more):
                return
            compared = self._ingested_files.compare(listing)

    def replay(self) -> LandedFiles:
        """Land again what was rejected: files that were set aside, and records that can now be read.

        Raises:
            LandingError: as `land` does.
        """
        outcome = LandedFiles(self._feed.name)
        with self._places.staging:
            _, compared = self._prepare(outcome, only_rejected=True)
            self._land_all(compared.candidates, outcome)
            self._replayer.replay(outcome)
        return outcome

    def _prepare(self, outcome: LandedFiles, *, only_rejected: bool = False) -> tuple[DataFrame, Compared]:
        """Prepare bronze, finish what an earlier run planned; return the listing and the new files in it."""
        listing = files_to_list(self._storage, self._ingested_files, self._feed.external, self._clock())
        compare = partial(self._ingested_files.compare, listing, only_rejected=only_rejected)
        compared = compare()
        self._bronze.prepare(self._ingested_files.landed_batch)
        if doubt := self._lost_rows.doubt():
            self._take_back_planned(doubt)
            outcome.settled = self._lost_rows.settle(doubt, partial(self._land_again, outcome))
            self._lost_rows.record(outcome.settled, self._clock())
        is_resumed = self._finish_planned(listing, outcome)
        return listing, compare() if doubt or is_resumed else compared  # lists once more

    def _land_all(self, candidates: Sequence[Candidate], outcome: LandedFiles) -> None:
        self._progress.plan([candidate.file for candidate in candidates])
        for some in bounded(candidates, self._feed.external):
            files, rows = outcome.files, outcome.rows
            self._progress.begin([candidate.file for candidate in some])
            accepted = self._examiner.examine(some, self._bronze.targets, outcome, self._clock())
            self._land_batch(accepted, outcome)
            self._places.staging.clear()
            self._progress.end(outcome.files - files, outcome.rows - rows)

    def _land_batch(self, accepted: Sequence[Examined], outcome: LandedFiles) -> None:
        """Plan, write, confirm; if a file breaks the write, reject it and plan the others again.

        An open quote breaks it, too: then the files are examined again, and read by records.
        """
        self._evolve(accepted, outcome)
        while accepted:
            batch = None
            try:
                rows = self._rows(accepted)
                check_broken_records(self._feed, rows)
                grain = self._grain.before(rows)
                planned = self._retraction.plan(accepted)
                batch = self._ingested_files.plan(planned, self._clock(), above=self._bronze.last_batch())
                self._retraction.append(batch, rows, accepted, self._rows)
            except (Py4JJavaError, PySparkException) as error:
                if is_open_quote(error) and any(examined.may_stop for examined in accepted):
                    if batch:
                        self._ingested_files.abandon(batch, "a line has an open quote")
                    targets = self._bronze.targets
                    accepted = self._examiner.examine_again(accepted, targets, outcome, self._clock())
                    continue
                sound, broken = split_broken(error, accepted, self._rows)
                if batch:
                    self._ingested_files.abandon(batch, f"{broken[0].file.path} is broken")
                self._ingested_files.note([*broken], self._clock())
                outcome.rejected |= {noted.file.path: str(noted.reason) for noted in broken}
                accepted = sound
            else:
                outcome.grain += grain
                self._confirmation.confirm(batch, partial(list, accepted), outcome)
                return

    def _evolve(self, accepted: Sequence[Examined], outcome: LandedFiles) -> None:
        """Record the changes that the contract allows, then apply them to bronze."""
        found = [(examined.file.path, change) for examined in accepted for change in examined.changes]
        new = self._schema_changes.record(found, self._clock())
        outcome.evolved += [change.column for change in new if change.kind != "missing_column"]
        for path, change in found:
            if change.kind == "missing_column":
                outcome.missing.setdefault(change.column, []).append(path)
        self._bronze.evolve(evolved_targets(self._bronze.targets, [change for _, change in found]))

    def _land_again(self, outcome: LandedFiles, lost: Sequence[Lost]) -> None:
        again = LandingAgain(self._bronze, self._ingested_files, self._examiner, self._replayer, self._rows)
        everything = self._storage.listing(self._clock()).persist()  # each batch searches it
        try:
            again.land(lost, everything, partial(self._evolve, outcome=outcome))
        finally:
            everything.unpersist()

    def _take_back_planned(self, doubt: Doubt) -> None:
        """Cancel an earlier run's planned batch, since an unknown number of its rows may be missing."""
        batch = self._ingested_files.unfinished()
        if batch is None:
            return
        if self._feed.external.on_lost_rows == "stop":
            self._lost_rows.settle(doubt)  # the table may be restored, with this batch
        self._bronze.remove(batch)
        if batch.is_replay:
            self._quarantine.unmark(batch)
        self._ingested_files.abandon(batch, f"bronze was changed: {doubt.cause}")

    def _finish_planned(self, listing: DataFrame, outcome: LandedFiles) -> bool:
        """Finish the batch that an earlier run planned but did not confirm; return whether there was one."""
        batch = self._ingested_files.unfinished()
        if batch is None:
            return False
        if batch.is_replay:
            self._replayer.finish(batch, outcome)
            return True

        def unchanged() -> list[Examined] | None:
            return self._examiner.unchanged(batch, listing, self._bronze.targets)

        if self._bronze.has(batch):
            self._confirmation.confirm(batch, lambda: unchanged() or [], outcome)
        else:
            files = unchanged() if not batch.retracts else None
            if files is None:
                self._ingested_files.abandon(batch, "its files cannot land as planned, or it retracts keys")
                return True
            try:
                self._bronze.append(self._rows(files), batch)
            except (Py4JJavaError, PySparkException) as error:
                broken, _ = broken_one(error, files)
                self._ingested_files.abandon(batch, f"{broken.file.path} is broken")
                return True
            self._confirmation.confirm(batch, lambda: files, outcome)
        outcome.resumed = batch.batch_id
        return True

    def _rows(self, files: Sequence[Examined]) -> DataFrame:
        """Read files, in as few partitions as needed, since each partition writes a file of the table."""
        read = [(part.file, layout) for examined in files for part, layout in examined.reads]
        rows = bronze_rows(self._reader, self._places, read, self._bronze.targets)
        return rows.coalesce(max(self._cores, sum(file.size for file, _ in read) // PART_BYTES))
