"""The outcome of one landing of a table."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from python_ingest.ops.bronze_checks import Settled


@dataclass
class LandedTable:
    """The outcome of one landing of a table.

    Attributes:
        feed: the feed's name.
        rows: new and changed rows landed now.
        deleted: deleted rows landed now.
        unchanged: rechecked rows that are the same in bronze.
        batches: number of batches.
        until: the time up to which the source is landed, if its cursor is a time.
        since: the time from which the first landing read, if this landing was the first and left out older
            rows.
        evolved: columns that were added to bronze now, or whose type was widened.
        missing: columns that the source lacks and the contract does not require, with the source.
        without_cursor: rows of the source without a cursor value, up to 1000; counted by the first landing.
        still_open: whether transactions were still running; a later landing looks for their rows.
        resumed: number of the batch that an earlier run wrote and this one confirmed.
        settled: the result of the check for lost rows in bronze, if one was made.
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
