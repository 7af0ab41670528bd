"""Replay the rejected messages of a topic: those that can now be read land as a separate batch, exactly once.

The batch is planned in `ops.ingested_batches`. A new checkpoint then begins behind its number, so that the
stream cannot take it; the messages are marked in `ops.rejected_records`, appended to bronze and confirmed. If
a run is killed in between, the next landing confirms the batch if it is in bronze, and removes the marks
otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from python_ingest.bronze.rescued import counted
from python_ingest.bronze.table import BronzeTable
from python_ingest.feeds.declarations import TopicFeed
from python_ingest.kafka.checkpoint import Checkpoint
from python_ingest.kafka.contract import that_rejects
from python_ingest.kafka.decoding import Decoder
from python_ingest.kafka.outcome import LandedTopic
from python_ingest.ops.erasures import REASON as ERASED
from python_ingest.ops.ingested_batches import Batches, PlannedBatch
from python_ingest.ops.rejected_records import REJECTED, Quarantine
from tidemark.base.clock import Clock

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class TopicReplayer:
    """Replays the rejected messages of one feed.

    Args:
        feed: the feed. What its contract lets stop a batch keeps a message waiting.
        bronze: the table in which they land.
        batches: the table that records the batch.
        quarantine: the table of rejected messages.
        clock: returns the time that becomes `_ingested_at`.
    """

    def __init__(
        self,
        feed: TopicFeed,
        bronze: BronzeTable,
        batches: Batches,
        quarantine: Quarantine,
        clock: Clock,
    ) -> None:
        self._decoder = Decoder(that_rejects(feed))
        self._topic = feed.external.topic
        self._bronze = bronze
        self._batches = batches
        self._quarantine = quarantine
        self._clock = clock

    def replay(self, checkpoint: Checkpoint, last_batch: int, outcome: LandedTopic) -> None:
        """Land the messages that can now be read; all batches of bronze must be recorded before.

        Args:
            checkpoint: the checkpoint of the stream.
            last_batch: the highest batch, in bronze or recorded.
            outcome: what has landed is added to it.
        """
        waiting = self._quarantine.records(None)
        if waiting is None:
            return
        read = self._decoded(waiting).select(*REJECTED.values(), "_corrupt_reason").collect()
        readable = [(batch, row) for batch, row, reason in read if reason in (None, ERASED)]
        outcome.waiting = len(read) - len(readable)
        if not readable:
            return
        # the new checkpoint begins where the stream is now
        passed = self._batches.state.after_offsets(checkpoint.passed(self._topic, last_batch))
        self._batches.check(passed, self._clock())
        above = max(last_batch, checkpoint.highest_batch())  # an epoch may have had no rows
        planned = self._batches.plan(self._batches.state, self._clock(), above=above)
        checkpoint.begin_anew(planned.batch.batch_id)  # also a replay that is taken back keeps its number
        self._quarantine.mark(readable, planned.batch)
        records = self._quarantine.records(planned.batch.batch_id)
        assert records is not None  # noqa: S101  # they were marked just now
        self._bronze.append(self._decoded(records), planned.batch)
        self._confirm(planned, outcome)

    def finish(self, outcome: LandedTopic) -> None:
        """Confirm a replay that an earlier run planned, or undo it if bronze does not have it."""
        planned = self._batches.unfinished
        if planned is not None and self._bronze.has(planned.batch):
            self._confirm(planned, outcome)
        elif planned is not None:
            self._abandon(planned)

    def take_back(self) -> bool:
        """Undo a replay that an earlier run planned, as some of its rows may be missing; return if it was."""
        planned = self._batches.unfinished
        if planned is None:
            return False
        self._bronze.remove(planned.batch)
        self._abandon(planned)
        return True

    def _abandon(self, planned: PlannedBatch) -> None:
        self._quarantine.unmark(planned.batch)
        self._batches.abandon(planned)

    def _confirm(self, planned: PlannedBatch, outcome: LandedTopic) -> None:
        count, rescued = counted(self._bronze.rows(planned.batch), self._bronze.targets)
        self._batches.confirm(planned, count)
        outcome.replayed += count
        outcome.rescued.add(rescued)

    def _decoded(self, records: DataFrame) -> DataFrame:
        """Return rejected messages as rows of bronze, with REJECTED; the keys of messages are in bronze."""
        landed = records.sparkSession.table(self._bronze.name).select(
            f.col("_batch_id").alias("batch_id"),
            f.col("_row_number").alias("row_id"),
            "_message_key",
            f.lit(True).alias("has_key"),
        )
        with_keys = records.join(landed, [*REJECTED], "left")
        return self._decoder.again(with_keys, self._bronze.targets, self._bronze.admitted)
