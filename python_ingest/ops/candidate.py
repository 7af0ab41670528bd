"""A listed file, with what `ops.ingested_files` knows about it."""

from __future__ import annotations

from dataclasses import dataclass

from python_ingest.feeds.source_file import SourceFile
from python_ingest.ops.batch import PlannedFile
from python_ingest.ops.left_out import LeftOut


@dataclass(frozen=True)
class Noted:
    """The outcome for a file: a row of `ops.ingested_files`.

    Attributes:
        file: the file.
        state: planned, landed, removed, rejected, ignored or abandoned.
        reason: why it was removed, rejected, ignored or abandoned.
        batch_id: its batch, if it is in one.
        row_count: its rows in bronze, if it landed.
    """

    file: PlannedFile
    state: str
    reason: str | None = None
    batch_id: int | None = None
    row_count: int | None = None


@dataclass(frozen=True)
class Candidate:
    """A listed file that may be new, and what is known about its path.

    Attributes:
        file: the file as it is listed.
        landed_checksum: the checksum with which the path last landed; None if it never landed.
        landed_batch: the batch in which it last landed.
        landed_rows: the number of rows that landed then.
        rejected_reason: why the path was rejected, if that is its newest state.
        is_same: whether size and time equal those of its newest state.
    """

    file: SourceFile
    landed_checksum: str | None
    landed_batch: int | None
    landed_rows: int | None
    rejected_reason: str | None
    is_same: bool


@dataclass(frozen=True)
class Compared:
    """A listing compared with `ops.ingested_files`.

    Attributes:
        candidates: the files that may be new, the oldest first.
        known: number of listed files that landed and have not changed.
        has_more: whether there are more such files, so that a landing must compare again.
        left_out: listed files that match no pattern.
    """

    candidates: list[Candidate]
    known: int
    has_more: bool
    left_out: LeftOut
