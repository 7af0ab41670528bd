"""What one landing of a table did."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from python_ingest.ops.bronze_checks import Settled


@dataclass
class LandedTable:
    """What one landing of a table did.

    Attributes:
        feed: the feed's name.
        rows: rows landed now, new and changed ones.
        deleted: rows landed now that say that a row is gone.
        unchanged: rows looked at again that bronze has as they are.
        batches: number of batches.
        until: the time up to which the source is landed, where its cursor is a time.
        since: where the first landing began, if this was it and it left out older rows.
        evolved: columns that bronze got now, or whose type was widened.
        missing: columns that the contract lets the source lack, with the source.
        without_cursor: rows of the source that have no cursor, up to 1000; counted by the first landing.
        still_open: whether transactions ran on whose rows a later landing will look for.
        resumed: number of the batch that an earlier run had written and this one confirmed.
        settled: what became of landed rows that bronze may have lost.
    """

    feed: str
    rows: int = 0
    deleted: int = 0
    unchanged: int = 0
    batches: int = 0
    until: datetime | None = None
    since: datetime | None = None
    evolved: list[str] = field(default_factory=list)
    missing: dict[str, list[str]] = field(default_factory=dict)
    without_cursor: int = 0
    still_open: bool = False
    resumed: int | None = None
    settled: Settled | None = None
