"""A planned batch of one feed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

REPLAY = "_rejected_records"  # the path of a batch of rejected records; no file has this name


@dataclass(frozen=True)
class PlannedFile:
    """A file of a planned batch, which may not have landed yet; no checksum if it cannot be read."""

    path: str
    size: int
    modified_at: datetime
    checksum: str | None


@dataclass(frozen=True)
class Batch:
    """A planned batch of one feed.

    Attributes:
        batch_id: grows by one with each batch of the feed.
        planned_at: UTC; becomes `_ingested_at`, so that a repeated write produces the same rows.
    """

    batch_id: int
    planned_at: datetime
    files: tuple[PlannedFile, ...]

    @property
    def is_replay(self) -> bool:
        """True for a batch of rejected records."""
        return self.files[0].path == REPLAY
