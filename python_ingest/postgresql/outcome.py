"""The outcome of one landing of a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from python_ingest.bronze.outcome import Note, OutcomeOfColumns, note
from python_ingest.feeds.declarations import Feed
from tidemark.base.output import count_of

COUNTED = 1000  # rows without a cursor value; more are not counted


@dataclass
class LandedTable(OutcomeOfColumns):
    """The outcome of one landing of a table.

    Attributes:
        rows: new and changed rows landed now.
        deleted: deleted rows landed now.
        unchanged: rechecked rows that are the same in bronze.
        batches: number of batches.
        until: the time up to which the source is landed, if its cursor is a time.
        since: the time from which the first landing read, if this landing was the first and left out older
            rows.
        without_cursor: rows of the source without a cursor value, up to `COUNTED`; the first landing counts.
        still_open: whether transactions were still running; a later landing looks for their rows.
    """

    rows: int = 0
    deleted: int = 0
    unchanged: int = 0
    batches: int = 0
    until: datetime | None = None
    since: datetime | None = None
    without_cursor: int = 0
    still_open: bool = False

    @property
    def rows_landed(self) -> int:
        """The number of rows and of deletions."""
        return self.rows + self.deleted

    @property
    def message(self) -> str:
        """What has landed, in one line."""
        parts = [f"{count_of(self.rows, 'row')} landed"] if self.rows else []
        parts += [f"{self.deleted:,} deleted"] if self.deleted else []
        parts = parts or ([] if self.resumed else ["nothing new, skipped"])
        parts += [f"{self.unchanged:,} checked again"] if self.unchanged else []
        parts += [f"up to {self.until:%Y-%m-%d %H:%M:%S}"] if self.until else []
        return self.with_resumed(parts)

    def notes(self, feed: Feed) -> Iterator[Note]:
        """Yield which rows of the source are left out, or will land later."""
        if self.since:
            yield note(
                "first window", f"from {self.since:%Y-%m-%d %H:%M} UTC on; older rows land when they change"
            )
        if self.without_cursor:
            more = f"{COUNTED:,} or more rows"
            number = more if self.without_cursor == COUNTED else count_of(self.without_cursor, "row")
            yield note(
                "left out",
                f"{number} without a cursor value: add a second column to `cursor`, or remove `cursor`",
            )
        if self.still_open:
            yield note(
                "still open",
                "a transaction was still running; the first landing after its end reads what it wrote",
            )
