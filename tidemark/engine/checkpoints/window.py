"""What a run reads of one source."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Window:
    """The versions, or the values of a watermark, that a model or test reads of one source.

    Attributes:
        source: `schema.table`.
        state: how the source is read: docs/incremental.md; `whole` of a test.
        kind: as in `Checkpoint`.
        source_id: the id of the source; None for a watermark.
        after: the version after which it is read; None for all rows.
        last: the version up to which it is read; None for a source without versions.
        message: the same in words, such as `versions 12..15`.
        unproven: why a rebuild from it proves nothing; None if it does.
        watermark_column: the column of a watermark.
        low, watermark: the stored and the new watermark, as text; None without one.
        type: the type of this column.
    """

    source: str
    state: str
    kind: str | None = None
    source_id: str | None = None
    after: int | None = None
    last: int | None = None
    message: str = ""
    unproven: str | None = None
    watermark_column: str | None = None
    low: str | None = None
    watermark: str | None = None
    type: str | None = None
