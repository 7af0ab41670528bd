"""Land a topic in bronze with a Spark stream, each message once.

Spark's checkpoint keeps the offsets. It is in the bronze table's own folder, and its name has the number of
the last batch before it. So a repeated batch has the same number, and Delta skips it (`txnAppId`,
`txnVersion`). `ops.ingested_batches` records the landed batches and their offsets.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as f

from python_ingest.bronze.lost_rows import LostRows
from python_ingest.bronze.rescued import Rescued, rescued_in
from python_ingest.bronze.table import BronzeTable
from python_ingest.feeds.declarations import TopicFeed
from python_ingest.kafka.checkpoint import Checkpoint
from python_ingest.kafka.contract import check_contract, check_share
from python_ingest.kafka.decoding import Decoder
from python_ingest.kafka.outcome import LandedTopic
from python_ingest.kafka.position import Position
from python_ingest.kafka.replay import TopicReplayer
from python_ingest.kafka.topic import spark_options, topic_of
from python_ingest.ops.batch import Batch
from python_ingest.ops.bronze_checks import BronzeChecks
from python_ingest.ops.ingested_batches import Batches, PlannedBatch
from python_ingest.ops.rejected_records import Quarantine
from tidemark.base.clock import Clock, utc_now, utc_time
from tidemark.base.connections import connection
from tidemark.base.errors import LandingError, TidemarkError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

PART_MESSAGES = 200_000
STARTING = threading.Lock()  # the first stream starts the server that Spark calls for each batch
LOSS = "Some data may have been lost"


class TopicLander:
    """Lands one feed from Kafka.

    Args:
        spark: the session.
        feed: the declaration.
        ops_schema: the schema of the state tables.
        clock: returns the time that becomes `_ingested_at`.
        accepts_loss: continue if messages were lost, or the topic was created again under the same name.
    """

    def __init__(
        self,
        spark: SparkSession,
        feed: TopicFeed,
        ops_schema: str,
        clock: Clock = utc_now,
        *,
        accepts_loss: bool = False,
    ) -> None:
        self._spark = spark
        self._feed = feed
        self._clock = clock
        self._accepts_loss = accepts_loss
        self._connection = connection(feed.external.connection, "kafka")
        self._decoder = Decoder(feed)
        self._bronze = BronzeTable(spark, feed, ("_message_partition", "_message_offset"), ops_schema)
        self._batches = Batches(spark, ops_schema, feed.name, feed.external.topic)
        self._quarantine = Quarantine(spark, ops_schema, feed.name, names_fields=False)
        self._replayer = TopicReplayer(feed, self._bronze, self._batches, self._quarantine, clock)
        self._identity: str | None = None  # of the topic, once it is known to be the one that landed
        self._on_batch: Callable[[LandedTopic], None] | None = None
        checks = BronzeChecks(spark, ops_schema, feed.name)
        self._lost_rows = LostRows(spark, feed, self._bronze, self._batches, checks)
        self._error: Exception | None = None
        self._outcome = LandedTopic(feed.name)

    def land(self) -> LandedTopic:
        """Land the messages that the topic has now.

        Raises:
            LandingError: when no broker answers, messages were lost before they landed, or landed messages
                are missing from bronze.
        """
        self.finish(self.start())
        return self._outcome

    def replay(self) -> LandedTopic:
        """Land the rejected messages that can now be read; the broker is not asked.

        Raises:
            LandingError: when landed messages are missing from bronze.
        """
        checkpoint = self._prepared()
        self._replayer.replay(checkpoint, self._last_batch(), self._outcome)
        return self._outcome

    def start(
        self, *, follows: bool = False, on_batch: Callable[[LandedTopic], None] | None = None
    ) -> StreamingQuery:
        """Start the stream.

        Args:
            follows: run until the stream is stopped, not only to the present end of the topic.
            on_batch: called after each landed batch.
        """
        external = self._feed.external
        self._on_batch = on_batch
        topic = topic_of(self._feed.name, self._connection, external.topic)
        checkpoint, last_batch = self._prepared(), self._last_batch()
        position = Position(self._feed, topic, self._batches, self._clock)
        position.check_identity(checkpoint, last_batch, accepts_loss=self._accepts_loss)
        position.begin(last_batch)
        self._identity = topic.identity
        self._after, location = checkpoint.current(last_batch)
        messages = (
            self._spark.readStream.format("kafka")
            .options(**spark_options(self._connection))
            .option("subscribe", external.topic)
            .option("startingOffsets", position.offsets)  # used only by a new checkpoint
            .option("maxOffsetsPerTrigger", external.max_messages)
            .option("maxRecordsPerPartition", PART_MESSAGES)  # few partitions keep all cores busy
            .option("failOnDataLoss", str(not self._accepts_loss).lower())
            .load()
        )
        writing = messages.writeStream.option("checkpointLocation", location)
        with STARTING:
            stream = writing.foreachBatch(self._land_batch)
        every = f"{external.every} seconds"
        return (
            stream.trigger(processingTime=every) if follows else stream.trigger(availableNow=True)
        ).start()

    def _prepared(self) -> Checkpoint:
        """Prepare bronze, record what an earlier run landed; return the checkpoint of the stream."""
        self._bronze.prepare(self._batches.landed_batch)
        if doubt := self._lost_rows.doubt():
            settled = self._lost_rows.settle(doubt)  # it may stop, and the table be restored
            if self._replayer.take_back():
                settled = self._lost_rows.settle(doubt)
            self._outcome.settled = settled
            self._lost_rows.record(settled, self._clock())
        else:
            self._replayer.finish(self._outcome)
        self._catch_up()
        return Checkpoint(self._spark, self._bronze)

    def finish(self, query: StreamingQuery) -> None:
        """Wait until the stream ends."""
        try:
            query.awaitTermination()
        except StreamingQueryException as error:
            raise self._stopped(error) from error
        self._outcome.until = self._batches.state.last_processed_at

    def _land_batch(self, messages: DataFrame, epoch: int) -> None:
        try:
            batch = Batch(self._after + 1 + epoch, self._clock(), ())
            if batch.batch_id <= self._batches.landed_batch:
                return
            targets = self._bronze.targets
            rows = self._decoder.rows(messages, targets, self._bronze.admitted)
            check_contract(self._feed, rows, targets)
            check_share(self._feed, rows)
            self._bronze.append(rows, batch)
            self._record(batch)
        except TidemarkError as error:
            self._error = error
            raise

    def _record(self, batch: Batch) -> None:
        """Record a batch of bronze as landed."""
        rows = self._bronze.rows(batch)
        counts = rows.groupBy("_message_partition").agg(
            f.count("*").alias("rows"),
            f.count("_corrupt_reason").alias("broken"),
            f.count("_rescued_data").alias("rescued"),
            f.max("_message_offset").alias("last"),
            f.unix_micros(f.max("_source_modified_at")).alias("newest"),
        )
        found = counts.collect()
        if not found:
            return
        if broken := sum(row["broken"] for row in found):
            paths = {
                f"{self._feed.external.topic}/{row['_message_partition']}": ()
                for row in found
                if row["broken"]
            }
            self._quarantine.keep(rows, batch, self._bronze.identity(), paths)
        state = self._batches.state
        offsets = {str(row["_message_partition"]): row["last"] + 1 for row in found}
        newest = max(utc_time(row["newest"]) for row in found)
        until = max(newest, state.last_processed_at) if state.last_processed_at else newest
        after = replace(
            state.after_offsets(offsets),
            source_id=self._identity or state.source_id,
            last_processed_at=until,
            read_at=batch.planned_at,
        )
        number = sum(row["rows"] for row in found)
        has_rescued = any(row["rescued"] for row in found)
        rescued = rescued_in(rows, self._bronze.targets) if has_rescued else Rescued()
        self._batches.confirm(PlannedBatch(batch, after), number, broken)
        self._outcome.messages += number
        self._outcome.broken += broken
        self._outcome.rescued.add(rescued)
        self._outcome.batches += 1
        if self._on_batch:
            self._on_batch(LandedTopic(self._feed.name, number, broken, rescued, 1, until=until))

    def _catch_up(self) -> None:
        """Record the batches that an earlier run appended to bronze but did not record."""
        for number in range(self._batches.landed_batch + 1, self._bronze.last_batch() + 1):
            self._record(Batch(number, self._clock(), ()))

    def _last_batch(self) -> int:
        """Return the highest batch: rows of a recorded one may be gone from bronze."""
        return max(self._bronze.last_batch(), self._batches.landed_batch)

    def _stopped(self, error: StreamingQueryException) -> Exception:
        if self._error:
            return self._error
        message = self._connection.redacted(str(error))
        topic = self._feed.external.topic
        if LOSS in message:
            reason = next((line for line in message.splitlines() if line.startswith("Reason: ")), "")
            reason = reason.split(" SQLSTATE")[0]
            return LandingError(
                f"Feed '{self._feed.name}': messages of '{topic}' were lost before they landed. {reason}",
                "Restore them, or run `tidemark land --accept-loss` to continue with the remaining messages.",
            )
        cause = message.split("terminated with exception: ")[-1].splitlines()[0].split(" SQLSTATE")[0]
        return LandingError(
            f"Feed '{self._feed.name}': reading '{topic}' stopped: {cause} The offsets are still "
            "those of the last landed batch.",
            "Check that the broker is running and has the topic, then land again: it continues from there.",
        )
