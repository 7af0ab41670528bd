"""Land the new and changed rows of a table in bronze, each row once, from one snapshot of the database.

Each batch takes the same steps as a batch of files. It is planned in `ops.ingested_batches`, appended to
bronze under its number as a Delta transaction, and then recorded as landed. Only then does the mark move.
After a kill at any point, the next landing confirms the batch if bronze has it, or plans again from the mark.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from functools import reduce
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import functions as f

from python_ingest.bronze.contract import Rejection, apply_contract, changes, evolved_targets
from python_ingest.bronze.lost_rows import LostRows
from python_ingest.bronze.table import BronzeTable
from python_ingest.feeds.declarations import TableFeed
from python_ingest.files.failures import innermost
from python_ingest.ops.bronze_checks import BronzeChecks
from python_ingest.ops.ingested_batches import Batches, SourceState
from python_ingest.ops.schema_changes import SchemaChanges
from python_ingest.postgresql.outcome import LandedTable
from python_ingest.postgresql.reading import Reading
from python_ingest.postgresql.snapshot import Snapshot, snapshot, with_plain_errors
from python_ingest.postgresql.source import source_of
from python_ingest.postgresql.window import Window, written_since
from tidemark.base.clock import Clock, utc_now
from tidemark.base.connections import connection
from tidemark.base.errors import LandingError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class TableLander:
    """Lands one feed from PostgreSQL.

    Args:
        spark: the session.
        feed: the declaration.
        ops_schema: the schema of the state tables.
        clock: returns the time that becomes `_ingested_at`.
        compares_all: compare all rows again, not only the rows after the mark.
    """

    def __init__(
        self,
        spark: SparkSession,
        feed: TableFeed,
        ops_schema: str,
        clock: Clock = utc_now,
        *,
        compares_all: bool = False,
    ) -> None:
        self._spark = spark
        self._feed = feed
        self._clock = clock
        self._compares_all = compares_all
        self._connection = connection(feed.external.connection, "postgresql")
        self._bronze = BronzeTable(spark, feed, _skipping(feed), ops_schema)
        self._batches = Batches(spark, ops_schema, feed.name, feed.external.source)
        checks = BronzeChecks(spark, ops_schema, feed.name)
        self._lost_rows = LostRows(spark, feed, self._bronze, self._batches, checks)
        self._schema_changes = SchemaChanges(spark, ops_schema, feed.name)

    def land(self) -> LandedTable:
        """Land the new and changed rows.

        Raises:
            LandingError: when the database cannot be reached or read, the contract does not allow its
                columns, or landed rows are missing from bronze. The mark stays at the last landed batch.
        """
        outcome = LandedTable(self._feed.name)
        self._bronze.prepare(self._batches.landed_batch)
        doubt = self._lost_rows.doubt()
        if doubt:
            outcome.settled = self._lost_rows.settle(doubt)
        self._finish_planned(outcome, is_doubtful=doubt is not None)
        with with_plain_errors(self._feed.name, self._connection), snapshot(self._connection) as taken:
            try:
                self._land(taken, outcome)
            except (Py4JJavaError, PySparkException) as error:
                raise self._stopped(error) from error
        if outcome.settled:
            self._lost_rows.record(outcome.settled, self._clock())
        return outcome

    def _land(self, taken: Snapshot, outcome: LandedTable) -> None:
        state = self._batches.state
        source = source_of(self._feed, taken)
        is_other = state.source_id not in (None, source.identity)
        reading = Reading(self._spark, self._feed, self._connection, taken, source)
        reading.resolve(self._bronze.targets)
        self._evolve(reading, outcome)
        has_lost = outcome.settled is not None and outcome.settled.decision == "compared"
        compares_all = self._compares_all or is_other or has_lost
        window = Window(taken, self._feed.external, source, state, compares_all=compares_all)
        after = replace(_open(state, taken), source_id=source.identity, read_at=self._read_at(taken))
        if state.mark is None and self._feed.external.cursor:
            outcome.without_cursor = window.without_cursor()
        if window.is_anew:
            last = window.last()
            after = replace(after, mark=window.marked(last), last_processed_at=window.time_of(last))
        with ExitStack() as stack:
            # rows that are not after the mark land with the first slice, or in a batch of their own
            waiting = [
                *self._changed(reading, window, outcome, stack),
                *self._deleted(reading, outcome, stack),
            ]
            for part in window.slices(self._feed.external.max_rows):
                after = replace(
                    after, mark=window.marked(part.end), last_processed_at=window.time_of(part.end)
                )
                rows = reading.rows(part.condition, self._bronze.targets, part.extent)
                self._land_batch([self._bronze.admission.of_others(rows), *waiting], after, outcome)
                waiting = []
            if waiting:
                self._land_batch(waiting, after, outcome)
        outcome.rows -= outcome.deleted
        self._batches.check(after, self._clock())
        outcome.until = after.last_processed_at
        outcome.still_open = after.open_since is not None
        outcome.since = window.start() if state.mark is None and not self._compares_all else None

    def _evolve(self, reading: Reading, outcome: LandedTable) -> None:
        """Apply the contract to the source's columns, and evolve bronze."""
        found = changes(self._bronze.targets, reading.fields, ignores_case=False)
        accepted = apply_contract(self._feed, self._feed.external.source, found, "it")
        if isinstance(accepted, Rejection):
            raise LandingError(
                f"Feed '{self._feed.name}': {self._feed.external.source}: {accepted.reason}.",
                f"Fix the source, or change the columns or the `contract` in {self._feed.declared_in}.",
            )
        recorded = self._schema_changes.record(
            [(self._feed.external.source, change) for change in accepted], self._clock()
        )
        outcome.evolved = [change.column for change in recorded if change.kind != "missing_column"]
        lacking = [change.column for change in accepted if change.kind == "missing_column"]
        outcome.missing = {column: [self._feed.external.source] for column in lacking}
        if accepted:
            self._bronze.evolve(evolved_targets(self._bronze.targets, accepted))
            reading.resolve(self._bronze.targets)

    def _changed(
        self, reading: Reading, window: Window, outcome: LandedTable, stack: ExitStack
    ) -> Iterator[DataFrame]:
        """Yield the rechecked rows that differ from bronze, if there are any."""
        condition = window.rechecked()
        if condition is None:
            return
        rows = reading.rows(condition, self._bronze.targets)
        rechecked_rows = self._bronze.admission.of_others(rows).persist()
        stack.callback(rechecked_rows.unpersist)
        compared = reading.compared(rechecked_rows, self._bronze, window.low_values()).persist()
        stack.callback(compared.unpersist)
        counts: Any = compared.agg(f.count("*"), f.count_if("_is_changed")).first()
        outcome.unchanged = counts[0] - counts[1]
        if counts[1]:
            yield compared.where("_is_changed").drop("_is_changed")

    def _deleted(self, reading: Reading, outcome: LandedTable, stack: ExitStack) -> Iterator[DataFrame]:
        """Yield a deleted row for each key missing from the source, if the feed detects deletes."""
        if not self._feed.external.detect_deletes:
            return
        deleted = reading.deleted(self._bronze).persist()
        stack.callback(deleted.unpersist)
        number = deleted.count()
        if not number:
            return
        share, most = number / reading.present(self._bronze), self._feed.external.max_deleted_share
        if share > most:
            raise LandingError(
                f"Feed '{self._feed.name}': {number:,} rows, {share:.0%} of those in bronze, are gone "
                f"from {self._feed.external.source}, so nothing landed (max_deleted_share: {most}).",
                "Check that it is the right table and complete. If it is, raise max_deleted_share.",
            )
        outcome.deleted = number
        yield deleted

    def _land_batch(self, parts: Sequence[DataFrame], after: SourceState, outcome: LandedTable) -> None:
        """Plan a batch, write it and confirm it."""
        planned = self._batches.plan(after, self._clock(), above=self._bronze.last_batch())
        rows = reduce(lambda one, other: one.unionByName(other), parts)
        made = {"_source_modified_at": f.lit(after.read_at), "_row_number": f.monotonically_increasing_id()}
        self._bronze.append(rows.withColumns(made), planned.batch)
        appended = self._bronze.appended(planned.batch)
        number = appended[0] if appended else self._bronze.rows(planned.batch).count()
        self._batches.confirm(planned, number)
        outcome.batches += 1
        outcome.rows += number

    def _finish_planned(self, outcome: LandedTable, *, is_doubtful: bool) -> None:
        """Confirm the batch that an earlier run planned if bronze has it; otherwise abandon the batch.

        The rows of an abandoned batch are planned again. A batch is also abandoned if bronze may have lost
        rows since: it is not known how many rows of the batch are left.
        """
        planned = self._batches.unfinished
        if planned is None:
            return
        if is_doubtful:
            self._bronze.remove(planned.batch)
            self._batches.abandon(planned)
        elif self._bronze.has(planned.batch):
            number = self._bronze.rows(planned.batch).count()
            self._batches.confirm(planned, number)
            outcome.resumed = planned.batch.batch_id
            outcome.rows += number
        else:
            self._batches.abandon(planned)

    def _read_at(self, taken: Snapshot) -> datetime:
        """Return the source's time of reading; it never goes backwards, because it orders versions."""
        before = self._batches.state.read_at
        return max(taken.clock, before) if before else taken.clock

    def _stopped(self, error: Exception) -> LandingError:
        message = self._connection.redacted(innermost(error))
        return LandingError(
            f"Feed '{self._feed.name}': reading {self._feed.external.source} stopped: {message}. "
            "The last position is unchanged.",
            "Fix the cause and land again: it continues from the last position.",
        )


def _open(state: SourceState, taken: Snapshot) -> SourceState:
    """Return the state with the transactions still running; known ones stay while all of them run."""
    if state.open_since and not written_since(state, taken):
        return replace(state, still_running=tuple(sorted(taken.running | set(state.still_running))))
    since = taken.lowest if taken.running else None
    return replace(state, open_since=since, still_running=tuple(sorted(taken.running)))


def _skipping(feed: TableFeed) -> list[str]:
    """Return the columns that find rechecked rows in bronze."""
    names = {column.in_file: column.name for column in feed.columns}
    return [names[name] for name in feed.external.named_columns if name in names]
