"""The simulated shop's tables, and a change of one of their rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal

Row = dict[str, Any]
Kind = Literal["insert", "update", "delete"]

# The columns with their PostgreSQL types; the first one is the primary key.
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
LATER_COLUMNS = {"orders": {"channel": "text"}}  # added half-way


@dataclass(frozen=True)
class Operation:
    """One change of one row.

    Attributes:
        table: a name of `TABLES`.
        kind: insert, update or delete.
        at: when it happened, UTC; the row's `updated_at` may tell otherwise.
        row: the whole row after the change; of a delete, before it.
        sequence: grows over the whole simulation, from 1.
        before: the whole row before the change; None of an insert.
        reason: why, as `Day.counts` counts it; `stock` is what the shop had before the first day.
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
        """How many operations of each reason, by name."""
        return dict(sorted(Counter(operation.reason for operation in self.operations).items()))
