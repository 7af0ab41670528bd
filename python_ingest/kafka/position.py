"""Where the stream of a topic begins, and whether the topic is still the one that landed before."""

from __future__ import annotations

import json

from python_ingest.feeds.declarations import TopicFeed
from python_ingest.kafka.checkpoint import Checkpoint
from python_ingest.kafka.topic import Topic
from python_ingest.ops.ingested_batches import Batches, SourceState
from tidemark.base.clock import Clock
from tidemark.base.errors import LandingError

EARLIEST = -2  # stands for the earliest offset of a partition


class Position:
    """How far a topic has landed.

    Args:
        feed: the feed.
        topic: the topic as the broker describes it.
        batches: the record of landed batches, with their offsets.
        clock: returns the time of a new record.
    """

    def __init__(self, feed: TopicFeed, topic: Topic, batches: Batches, clock: Clock) -> None:
        self._feed = feed
        self._topic = topic
        self._batches = batches
        self._clock = clock

    def check_identity(self, checkpoint: Checkpoint, last_batch: int, *, accepts_loss: bool) -> None:
        """Stop if the topic is another one of the same name, or begin with it if that is accepted.

        Raises:
            LandingError: if it is not.
        """
        known = self._batches.state.source_id
        if known in (None, self._topic.identity):
            return
        if not accepts_loss:
            raise LandingError(
                f"Feed '{self._feed.name}': the topic '{self._feed.external.topic}' was deleted and "
                "created again since it was landed. Nothing landed.",
                "Messages of the old topic that were not landed are lost. Run `tidemark land --accept-loss` "
                "to land the new topic from its beginning.",
            )
        checkpoint.begin_anew(last_batch)
        self._batches.check(SourceState(source_id=self._topic.identity), self._clock())

    def begin(self, last_batch: int) -> None:
        """Record where a topic ends that is landed from its latest messages on.

        A later checkpoint begins there with a partition of which nothing has landed.
        """
        is_first = self._batches.state.source_id is None and not last_batch
        if is_first and self._feed.external.starts == "latest":
            mark = {str(number): offset for number, offset in self._topic.ends.items()}
            self._batches.check(SourceState(mark, self._topic.identity), self._clock())

    @property
    def offsets(self) -> str:
        """Where a new checkpoint begins, as Spark's option `startingOffsets`."""
        mark = self._batches.state.mark
        if not mark:
            return "earliest"
        numbers = map(str, range(self._topic.partitions))
        offsets = {number: mark.get(number, EARLIEST) for number in numbers}
        return json.dumps({self._feed.external.topic: offsets})
