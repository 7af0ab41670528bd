"""The rows of the simulated shop's tables, and the operations on them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from itertools import chain

from dev.simulators.operations import TABLES, Kind, Operation, Row
from dev.simulators.rng import Rng


class ShopTables:
    """The present rows of the tables, by key.

    Attributes:
        done: the recorded operations since the list was last emptied.
        last_ids: the highest id used in each table.
        has_channel: whether rows of `orders` already have the later column.
    """

    def __init__(self, rng: Rng) -> None:
        self.rng = rng
        self.rows: dict[str, dict[int, Row]] = {table: {} for table in TABLES}
        self.last_ids = dict.fromkeys(TABLES, 0)
        self.has_channel = False
        self.sequence = 0
        self.done: list[Operation] = []

    def next_id(self, table: str) -> int:
        """Return a new id."""
        self.last_ids[table] += 1
        return self.last_ids[table]

    def living(self, table: str, first: int = 1, last: int | None = None) -> Row:
        """Return a random row with an id from `first` to `last`; skip deleted rows."""
        found = self.living_where(table, lambda _: True, first, last)
        if found is None:
            raise LookupError(f"{table} has no row from {first} on")
        return found

    def living_where(
        self, table: str, fits: Callable[[Row], bool], first: int = 1, last: int | None = None
    ) -> Row | None:
        """Return such a row that `fits` accepts, or None."""
        rows, end = self.rows[table], self.last_ids[table] if last is None else last
        start = first + self.rng.below(end - first + 1)
        keys = chain(range(start, end + 1), range(first, start))
        return next((rows[key] for key in keys if key in rows and fits(rows[key])), None)

    def record(self, reason: str, at: datetime, table: str, row: Row | None, before: Row | None) -> None:
        """Apply and record one operation; no `before` means an insert, no `row` means a delete."""
        if self.has_channel and table == "orders":
            row, before = (one and {**one, "channel": one.get("channel")} for one in (row, before))
        kind: Kind = "delete" if row is None else "update" if before else "insert"
        self.sequence += 1
        image: Row = row or before or {}
        operation = Operation(table, kind, at, image, self.sequence, before, reason)
        self.done.append(operation)
        if row is None:
            del self.rows[table][operation.key]
        else:
            self.rows[table][operation.key] = row
