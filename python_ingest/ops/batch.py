"""A batch of one feed, as it was planned."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

REPLAY = "_rejected_records"  # stands for a file in a batch of rejected records: no file has such a name


@dataclass(frozen=True)
class PlannedFile:
    """A file of a batch that is planned, and perhaps not yet landed; no checksum if it cannot be read."""

    path: str
    size: int
    modified_at: datetime
    checksum: str | None


@dataclass(frozen=True)
class Batch:
    """A planned batch of one feed.

    Attributes:
        batch_id: grows by one with each batch of the feed.
        planned_at: UTC; becomes `_ingested_at`, so that a repeated write gives the same rows.
    """

    batch_id: int
    planned_at: datetime
    files: tuple[PlannedFile, ...]

    @property
    def is_replay(self) -> bool:
        """True for a batch of rejected records."""
        return self.files[0].path == REPLAY
