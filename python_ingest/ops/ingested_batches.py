"""The batches of feeds that are tables or topics: the table `ops.ingested_batches`.

The table is a log. A batch gets a row `planned`, then `landed`; or `abandoned`, if a run was interrupted
before the batch was in bronze. The feed's mark is that of its newest row that is `landed` or `checked`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pyspark.sql.functions import expr

from python_ingest.ops.batch import Batch
from python_ingest.ops.feed_table import FeedTable
from tidemark.base.clock import utc_time

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COLUMNS = """
    feed string comment 'Name of the feed',
    source string comment 'The table or topic',
    state string comment 'planned, landed, abandoned, or checked: nothing was new, but the state moved on',
    batch_id bigint comment 'The landing batch; of a checked row the last one',
    mark string comment 'As JSON: the cursor and key, or the offsets, up to which the source is landed',
    source_id string comment 'Which table or topic of this name it was',
    open_since string comment 'Transactions ran on: the number below which none of them is; null for none',
    still_running array<string> comment 'Those transactions',
    last_processed_at timestamp comment 'The time up to which the source is landed, if its cursor is one',
    read_at timestamp comment 'When the source was read, by its own clock',
    row_count bigint comment 'Rows in bronze; null unless landed',
    rejected_count bigint comment 'How many of them could not be decoded',
    recorded_at timestamp comment 'When the batch was planned',
    _sequence bigint comment 'Grows with each write to this feed'
"""

ROW = (  # times as numbers, so that time zones do not affect their conversion to Python
    "struct(*, unix_micros(last_processed_at) as processed_micros, unix_micros(read_at) as read_micros, "
    "unix_micros(recorded_at) as recorded_micros)"
)


@dataclass(frozen=True)
class SourceState:
    """How far a source has landed.

    Attributes:
        mark: the cursor and key, or the offsets; None before the first batch.
        source_id: the identity of the table or topic, which may be recreated with the same name.
        open_since: if transactions were running during the read, the number below which none is; else None.
        still_running: those transactions.
        last_processed_at: the mark as a time, if it is one.
        read_at: when the source was read, by its own clock.
    """

    mark: dict[str, Any] | None = None
    source_id: str | None = None
    open_since: str | None = None
    still_running: tuple[str, ...] = ()
    last_processed_at: datetime | None = None
    read_at: datetime | None = None

    def after_offsets(self, offsets: Mapping[str, int]) -> SourceState:
        """Return the state of a topic that has landed up to offsets, by partition; none is lowered."""
        mark = dict(self.mark or {})
        for partition, offset in offsets.items():
            mark[partition] = max(offset, mark.get(partition, 0))
        return replace(self, mark=mark)


@dataclass(frozen=True)
class PlannedBatch:
    """A batch, and how far the source has landed after it."""

    batch: Batch
    after: SourceState


class Batches(FeedTable):
    """The batches of one feed.

    Args:
        spark: the session.
        schema: the schema of the state tables.
        feed: the feed's name.
        source: the table or topic.

    Attributes:
        state: how far the source has landed.
        unfinished: the batch that an earlier run planned but did not confirm, if any.
        landed_batch: the highest batch that landed; 0 if there is none.
    """

    def __init__(self, spark: SparkSession, schema: str, feed: str, source: str) -> None:
        super().__init__(spark, schema, feed, "ingested_batches", COLUMNS)
        self._source = source
        self._create()
        last: Any = (
            self._rows()
            .selectExpr(
                f"max_by({ROW}, _sequence) as newest",
                f"max_by({ROW}, _sequence) filter (where state in ('landed', 'checked')) as done",
                "coalesce(max(batch_id), 0) as batch_id",
                "coalesce(max(batch_id) filter (where state = 'landed'), 0) as landed",
            )
            .first()
        )
        newest = last["newest"]
        self._sequence: int = newest["_sequence"] if newest else 0
        self._last_batch: int = last["batch_id"]
        self.landed_batch: int = last["landed"]
        self.state = _state(last["done"]) if last["done"] else SourceState()
        self.unfinished: PlannedBatch | None = None
        if newest and newest["state"] == "planned":
            batch = Batch(newest["batch_id"], utc_time(newest["recorded_micros"]), ())
            self.unfinished = PlannedBatch(batch, _state(newest))

    def landed(self) -> DataFrame:
        """Return the number of rows of each landed batch: `batch_id`, `path` (null), `landed`."""
        rows = self._rows().where("state = 'landed'").groupBy("batch_id")
        landed = rows.agg(expr("max_by(row_count, _sequence) as landed"))
        return landed.selectExpr("batch_id", "cast(null as string) as path", "landed")

    def plan(self, after: SourceState, at: datetime, *, above: int) -> PlannedBatch:
        """Record a batch before it is written.

        Args:
            after: how far the source has landed after it.
            at: UTC.
            above: the highest batch number in bronze.
        """
        self._last_batch = max(self._last_batch, above) + 1
        planned = PlannedBatch(Batch(self._last_batch, at, ()), after)
        self._record("planned", planned)
        return planned

    def confirm(self, planned: PlannedBatch, rows: int, rejected: int = 0) -> None:
        """Record a batch as landed, and advance the mark."""
        self._record("landed", planned, rows, rejected)
        self.state = planned.after
        self.landed_batch = max(self.landed_batch, planned.batch.batch_id)

    def abandon(self, planned: PlannedBatch) -> None:
        """Record that a batch will not be written; its rows are planned again."""
        self._record("abandoned", planned)

    def check(self, after: SourceState, at: datetime) -> None:
        """Record the new state of the source if it has changed although no row is new."""
        if replace(after, read_at=self.state.read_at) != self.state:
            self._record("checked", PlannedBatch(Batch(self._last_batch, at, ()), after))
            self.state = after

    def _record(
        self, state: str, planned: PlannedBatch, rows: int | None = None, rejected: int | None = None
    ) -> None:
        after, batch = planned.after, planned.batch
        self._sequence += 1
        mark = json.dumps(after.mark, sort_keys=True) if after.mark is not None else None
        times = (after.last_processed_at, after.read_at)
        row = (self._source, state, batch.batch_id, mark, after.source_id, after.open_since)
        self._add([(*row, [*after.still_running], *times, rows, rejected, batch.planned_at, self._sequence)])


def _state(row: Any) -> SourceState:
    return SourceState(
        mark=json.loads(row["mark"]) if row["mark"] else None,
        source_id=row["source_id"],
        open_since=row["open_since"],
        still_running=tuple(row["still_running"] or ()),
        last_processed_at=_time(row["processed_micros"]),
        read_at=_time(row["read_micros"]),
    )


def _time(micros: int | None) -> datetime | None:
    return None if micros is None else utc_time(micros)
