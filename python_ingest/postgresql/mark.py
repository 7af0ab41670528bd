"""How far a table has landed, and the rows that land together."""

from __future__ import annotations

from dataclasses import dataclass

from psycopg import sql

from python_ingest.postgresql.source import Extent


@dataclass(frozen=True)
class Mark:
    """A place in the order of (cursor, key): values as the server writes them."""

    cursor: str
    key: tuple[str, ...]


@dataclass(frozen=True)
class Slice:
    """Rows that are landed in one batch.

    Attributes:
        condition: holds for them.
        end: the last one's place.
        extent: how far they go, where it is known.
    """

    condition: sql.Composed
    end: Mark
    extent: Extent | None
