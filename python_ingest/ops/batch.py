"""A planned batch of one feed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

REPLAY = "_rejected_records"  # the path of a batch of rejected records; no file has this name
RETRACTED = "_retracted_rows"  # the path of the rows that a batch has besides those of its files


@dataclass(frozen=True)
class PlannedFile:
    """A file of a planned batch, which may not have landed yet; no checksum if it cannot be read."""

    path: str
    size: int
    modified_at: datetime
    checksum: str | None

    @property
    def is_removed(self) -> bool:
        """True for a file that is gone and whose keys the batch retracts."""
        return self.checksum is None and self.path not in (REPLAY, RETRACTED)


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
    def landing(self) -> tuple[PlannedFile, ...]:
        """The files whose rows land."""
        return tuple(file for file in self.files if file.checksum is not None)

    @property
    def removed(self) -> tuple[PlannedFile, ...]:
        """The files that are gone."""
        return tuple(file for file in self.files if file.is_removed)

    @property
    def retracts(self) -> bool:
        """True if the batch has rows that retract keys."""
        return any(file.path == RETRACTED for file in self.files)

    @property
    def is_replay(self) -> bool:
        """True for a batch of rejected records."""
        return self.files[0].path == REPLAY
