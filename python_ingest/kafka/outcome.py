"""The outcome of one landing of a topic."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from python_ingest.ops.bronze_checks import Settled


@dataclass
class LandedTopic:
    """The outcome of one landing of a topic.

    Attributes:
        feed: the feed's name.
        messages: messages landed now.
        broken: landed messages that could not be decoded.
        batches: number of batches.
        until: the time of the newest landed message.
        settled: the result of the check for lost rows in bronze, if one was made.
    """

    feed: str
    messages: int = 0
    broken: int = 0
    batches: int = 0
    until: datetime | None = None
    settled: Settled | None = None
