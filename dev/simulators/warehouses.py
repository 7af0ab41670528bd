"""The simulated shop's warehouses: goods arrive and leave; wrong movements are corrected or cancelled."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from dev.simulators.operations import Row
from dev.simulators.rng import Rng
from dev.simulators.shop_tables import ShopTables
from dev.simulators.words import PRODUCTS, WAREHOUSES

_TABLE = "inventory_movements"
_DELIVERED_BY, _TAKEN_AT_MOST, _MISCOUNTED_BY = 10, 40, 9  # pieces


class Warehouses:
    """Movements of goods; after each operation, no stock of a product in a warehouse is negative."""

    def __init__(self, rng: Rng, tables: ShopTables) -> None:
        self.rng, self.tables = rng, tables
        self.held: Counter[tuple[str, str]] = Counter()

    def move(self, at: datetime, moved_at: datetime) -> None:
        """Deliver goods, or take some of the stock."""
        row = {
            "movement_id": self.tables.next_id(_TABLE),
            "product_name": self.rng.one_of(PRODUCTS),
            "warehouse": self.rng.one_of(WAREHOUSES),
        }
        there = self.held[_place(row)]
        if there and self.rng.below(3):
            row["quantity"] = -1 - self.rng.below(min(there, _TAKEN_AT_MOST))
        else:
            row["quantity"] = _DELIVERED_BY * (1 + self.rng.below(12))
        self._record("movement", at, row | {"moved_at": moved_at}, None)

    def correct(self, at: datetime) -> None:
        """Correct the warehouse or the quantity of a movement."""
        before = self.tables.living_where(_TABLE, lambda _: True)
        if before is None:
            self.move(at, at)
            return
        other = self.rng.one_of([name for name in WAREHOUSES if name != before["warehouse"]])
        pieces = 1 + self.rng.below(_MISCOUNTED_BY)
        more, fewer = ((before["quantity"] + by or by) for by in (pieces, -pieces))
        changes: list[Row] = [{"warehouse": other}, {"quantity": fewer}, {"quantity": more}]
        change = changes[self.rng.below(3)]
        row = before | (change if self._fits(before | change, before) else {"quantity": more})
        self._record("corrected_movement", at, row, before)

    def cancel(self, at: datetime) -> None:
        """Cancel a movement; a delivery only if its goods are still in stock."""
        before = self.tables.living_where(_TABLE, lambda row: self._fits(None, row))
        if before is None:
            self.move(at, at)
        else:
            self._record("cancelled_movement", at, None, before)

    def _fits(self, row: Row | None, before: Row | None) -> bool:
        return all(self.held[place] + pieces >= 0 for place, pieces in _moved(row, before).items())

    def _record(self, reason: str, at: datetime, row: Row | None, before: Row | None) -> None:
        self.held.update(_moved(row, before))
        self.tables.record(reason, at, _TABLE, row, before)


def _moved(row: Row | None, before: Row | None) -> Counter[tuple[str, str]]:
    moved: Counter[tuple[str, str]] = Counter()
    if row is not None:
        moved[_place(row)] += row["quantity"]
    if before is not None:
        moved[_place(before)] -= before["quantity"]
    return moved


def _place(row: Row) -> tuple[str, str]:
    return row["product_name"], row["warehouse"]
