"""The outcome of one landing of a topic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from python_ingest.bronze.outcome import Note, Outcome, note
from python_ingest.feeds.declarations import Feed
from tidemark.base.output import count_of


@dataclass
class LandedTopic(Outcome):
    """The outcome of one landing of a topic.

    Attributes:
        messages: messages landed now.
        broken: landed messages that could not be decoded.
        batches: number of batches.
        until: the time of the newest landed message.
    """

    messages: int = 0
    broken: int = 0
    batches: int = 0
    until: datetime | None = None

    @property
    def rows_landed(self) -> int:
        """The number of messages: each is a row."""
        return self.messages

    @property
    def message(self) -> str:
        """What has landed, in one line."""
        landed = f"{count_of(self.messages, 'message')} landed" if self.messages else "nothing new, skipped"
        return f"{landed}, up to {self.until:%Y-%m-%d %H:%M:%S}" if self.until else landed

    def notes(self, feed: Feed) -> Iterator[Note]:
        """Yield the messages that cannot be decoded."""
        if self.broken:
            message = f"{count_of(self.broken, 'message')} cannot be decoded: see ops.rejected_records"
            yield note("broken", message, messages=self.broken)
