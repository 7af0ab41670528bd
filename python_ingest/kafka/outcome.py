"""The outcome of one landing of a topic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from python_ingest.bronze.outcome import Note, Outcome, note, rescued_notes
from python_ingest.bronze.rescued import Rescued
from python_ingest.feeds.declarations import Feed
from tidemark.base.output import count_of


@dataclass
class LandedTopic(Outcome):
    """The outcome of one landing of a topic.

    Attributes:
        messages: messages landed now.
        broken: landed messages that could not be decoded, or that the contract rejects.
        rescued: values and fields landed now that are in no column but in `_rescued_data`.
        batches: number of batches.
        replayed: rejected messages landed now.
        waiting: rejected messages that were tried again and are still rejected.
        until: the time of the newest landed message.
    """

    messages: int = 0
    broken: int = 0
    rescued: Rescued = field(default_factory=Rescued)
    batches: int = 0
    replayed: int = 0
    waiting: int = 0
    until: datetime | None = None

    @property
    def rows_landed(self) -> int:
        """The number of messages, with rejected ones that landed now: each is a row."""
        return self.messages + self.replayed

    @property
    def message(self) -> str:
        """What has landed, in one line."""
        numbers = (
            (self.messages, f"{count_of(self.messages, 'message')} landed"),
            (self.replayed, f"{count_of(self.replayed, 'rejected message')} landed"),
            (self.waiting, f"{count_of(self.waiting, 'message')} still rejected"),
        )
        landed = ", ".join(text for number, text in numbers if number) or "nothing new, skipped"
        return f"{landed}, up to {self.until:%Y-%m-%d %H:%M:%S}" if self.until else landed

    @property
    def facts(self) -> dict[str, Any]:
        """The numbers of messages, and the time of the newest one."""
        return {
            "feed": self.feed,
            "messages": self.messages,
            "broken": self.broken,
            "batches": self.batches,
            "replayed": self.replayed,
            "waiting": self.waiting,
            "until": self.until,
        }

    def notes(self, feed: Feed) -> Iterator[Note]:
        """Yield the messages that are set aside, and the fields that are in no column."""
        if self.broken:
            message = f"{count_of(self.broken, 'message')} rejected: see ops.rejected_records"
            yield note("broken", message, messages=self.broken)
        yield from rescued_notes(self.rescued, "message")
