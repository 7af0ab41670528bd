"""The mark (how far a table has landed) and the slice (the rows that land together)."""

from __future__ import annotations

from dataclasses import dataclass

from psycopg import sql

from python_ingest.postgresql.source import Extent


@dataclass(frozen=True)
class CursorPosition:
    """A position in the order of (cursor, key); the values are text as the server writes it."""

    cursor: str
    key: tuple[str, ...]


@dataclass(frozen=True)
class Slice:
    """Rows that land in one batch.

    Attributes:
        condition: the condition that selects these rows.
        end: the position of the last row.
        extent: the extent of the rows, if it is known.
    """

    condition: sql.Composed
    end: CursorPosition
    extent: Extent | None
