"""The simulated shop's tables, and a change of one row."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal

Row = dict[str, Any]
Kind = Literal["insert", "update", "delete"]

# The columns with their PostgreSQL types; the first column is the primary key.
TABLES = {
    "customers": {
        "customer_id": "bigint",
        "name": "text",
        "email": "text",
        "created_at": "timestamptz",
        "updated_at": "timestamptz",
    },
    "orders": {
        "order_id": "bigint",
        "customer_id": "bigint",
        "product_name": "text",
        "quantity": "int",
        "price": "numeric(10,2)",
        "order_date": "date",
        "updated_at": "timestamptz",
    },
    "inventory_movements": {
        "movement_id": "bigint",
        "product_name": "text",
        "warehouse": "text",
        "quantity": "int",
        "moved_at": "timestamptz",
    },
}
KEYS = {table: next(iter(columns)) for table, columns in TABLES.items()}
CHANGED_AT = {table: next(reversed(columns)) for table, columns in TABLES.items()}
LATER_COLUMNS = {"orders": {"channel": "text"}}  # added in the second half of the days


@dataclass(frozen=True)
class Operation:
    """One change of one row.

    Attributes:
        table: a name of `TABLES`.
        kind: insert, update or delete.
        at: the time of the change, UTC; the row's `updated_at` may differ.
        row: the full row after the change; for a delete, the row before it.
        sequence: a number that grows from 1 over the simulation.
        before: the full row before the change; None for an insert.
        reason: the reason, as `Day.counts` counts it; `stock` for rows from before the first day.
    """

    table: str
    kind: Kind
    at: datetime
    row: Row
    sequence: int
    before: Row | None = None
    reason: str = ""

    @property
    def key(self) -> int:
        """The row's primary key."""
        key: int = self.row[KEYS[self.table]]
        return key


@dataclass(frozen=True)
class Day:
    """A day's operations in the order in which they happened."""

    date: date
    operations: list[Operation]

    @property
    def counts(self) -> dict[str, int]:
        """The number of operations by reason."""
        return dict(sorted(Counter(operation.reason for operation in self.operations).items()))
