"""What one landing of a topic did."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from python_ingest.ops.bronze_checks import Settled


@dataclass
class LandedTopic:
    """What one landing of a topic did.

    Attributes:
        feed: the feed's name.
        messages: messages landed now.
        broken: those of them that could not be decoded.
        batches: number of batches.
        until: the newest time of a message that has landed.
        settled: what became of landed messages that bronze may have lost.
    """

    feed: str
    messages: int = 0
    broken: int = 0
    batches: int = 0
    until: datetime | None = None
    settled: Settled | None = None
