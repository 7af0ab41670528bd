"""A repeatable simulator of a live web shop's database, day by day, with changes that are hard to capture.

From 00:10 to 23:50 UTC customers sign up, order and change their orders. Each day has the problems that a
reader of `updated_at` must handle: late updates, ties, clocks that are wrong by minutes, and deletes. In the
second half of the days `orders` has one more column. Movements of goods are corrected and cancelled; no stock
of a warehouse is ever negative.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

from dev.simulators.operations import TABLES, Day, Operation, Row
from dev.simulators.rng import Rng
from dev.simulators.shop_tables import ShopTables
from dev.simulators.warehouses import Warehouses
from dev.simulators.words import CENTS, CHANNELS, FIRST_NAMES, LAST_NAMES, PRODUCTS

__all__ = ["LOOKBACK_DAYS", "MIN_ROWS", "SKEW", "TABLES", "Day", "Operation", "shop_days"]

LOOKBACK_DAYS = 7  # late updates change orders of these days, including the simulated day
SKEW = timedelta(minutes=5)  # how wrong a clock may be
MIN_ROWS = 20  # with fewer per day, there might be no recent orders to change

# Rates per hundred operations; each happens at least once a day.
_PER_HUNDRED = {"new_customer": 11, "changed_customer": 11, "new_order": 33, "changed_order": 15}
_PER_HUNDRED |= {"changed_again": 6, "unmoved_update": 3, "late_update": 3, "deleted_order": 2}
_PER_HUNDRED |= {"deleted_customer": 1, "movement": 5}
_PER_HUNDRED |= {"corrected_movement": 1, "cancelled_movement": 1}
_REPRICED, _SKEWED = 10, 6  # also per hundred
_NO_EMAIL_EVERY = 20  # customers
_CUSTOMERS_SINCE, _ORDERS_SINCE = 90, 60  # maximum age of the starting stock in days

_DAY, _HOUR, _MINUTE = timedelta(days=1), timedelta(hours=1), timedelta(minutes=1)
_TICK = timedelta(microseconds=1)
_OPENS, _OPEN = timedelta(minutes=10), timedelta(hours=23, minutes=40)


def shop_days(start: date, days: int, rows: int, seed: int) -> Iterator[Day]:
    """Simulate a web shop.

    A late update changes an order of the last `LOOKBACK_DAYS`. It leaves `updated_at` unchanged, or sets it
    to a time some hours ago; `updated_at` of a row never goes back. Any other change sets it on the
    operation's day, at most `SKEW` from its time. So a reader that uses `updated_at` after each day misses
    only late updates and deletes.

    Args:
        start: the first day; it begins with a stock of customers and orders, up to 90 and 60 days old.
        days: number of days; in the second half, rows of `orders` have the key `channel`.
        rows: approximate number of operations per day, without the stock.
        seed: another seed gives another shop, with the same rates.

    Raises:
        ValueError: when `days` is below 1, or `rows` is below `MIN_ROWS`.
    """
    if days < 1 or rows < MIN_ROWS:
        raise ValueError(f"days={days}, rows={rows}: give 1 or more days, {MIN_ROWS} or more rows.")
    return _days(start, days, rows, seed)


def _days(start: date, days: int, rows: int, seed: int) -> Iterator[Day]:
    shop = _Shop(seed)
    for number in range(days):
        shop.tables.has_channel = number >= (days + 1) // 2
        yield shop.day(start + number * _DAY, rows)


class _Shop:
    def __init__(self, seed: int) -> None:
        self.rng = Rng(seed)
        self.tables = ShopTables(self.rng)
        self.warehouses = Warehouses(self.rng, self.tables)
        self.first_orders: dict[date, int] = {}  # the first order_id of each day
        self.orders_of: Counter[int] = Counter()
        self.without_orders: dict[int, None] = {}  # customers without orders, the longest without first
        self.last_changed = 0

    def day(self, day: date, rows: int) -> Day:
        self.tables.done = []
        midnight = datetime.combine(day, time(), UTC)
        if not self.tables.sequence:
            self._stock(midnight, customers=rows // 2, orders=rows)
        self.first_orders[day] = self.tables.last_ids["orders"] + 1
        reasons = [name for name, share in _PER_HUNDRED.items() for _ in range(max(1, rows * share // 100))]
        reasons = self.rng.sample([*reasons, "repriced"], len(reasons) + 1)
        moments = sorted(self.rng.below(_OPEN // _TICK) * _TICK for _ in reasons)
        for reason, moment in zip(reasons, moments, strict=True):
            at = midnight + _OPENS + moment
            if reason == "repriced":
                self._reprice(at, max(2, rows * _REPRICED // 100))
            else:
                getattr(self, f"_{reason}")(at)
        return Day(day, self.tables.done)

    def _stock(self, at: datetime, customers: int, orders: int) -> None:
        for number in range(customers):
            self._add_customer("stock", at, at - _CUSTOMERS_SINCE * _DAY * (customers - number) / customers)
        for number in range(orders):
            age = _ORDERS_SINCE - _ORDERS_SINCE * number // orders
            ordered = at - age * _DAY + self.rng.below(_DAY // _TICK) * _TICK
            self.first_orders.setdefault(ordered.date(), number + 1)
            signed_up = customers * (_CUSTOMERS_SINCE - age) // _CUSTOMERS_SINCE
            self._add_order("stock", at, ordered, self.tables.living("customers", 1, signed_up))

    # The operations: one method for each name of _PER_HUNDRED.

    def _new_customer(self, at: datetime) -> None:
        self._add_customer("new_customer", at, self._clock(at))

    def _changed_customer(self, at: datetime) -> None:
        before = self.tables.living("customers")
        email = f"customer{before['customer_id']}.{self.tables.sequence}@example.com"
        row = before | {"email": email, "updated_at": max(self._clock(at), before["updated_at"])}
        self.tables.record("changed_customer", at, "customers", row, before)

    def _new_order(self, at: datetime) -> None:
        customer = self.tables.living("customers")
        self._add_order("new_order", at, self._clock(at), customer)

    def _changed_order(self, at: datetime) -> None:
        self._change_order("changed_order", at, self._any_order(), self._clock(at))

    def _changed_again(self, at: datetime) -> None:
        before = self.tables.rows["orders"].get(self.last_changed) or self._any_order()
        self._change_order("changed_again", at, before, self._clock(at))

    def _unmoved_update(self, at: datetime) -> None:
        before = self._recent_order(at)
        self._change_order("unmoved_update", at, before, before["updated_at"])

    def _late_update(self, at: datetime) -> None:
        hours_ago = at - (2 + self.rng.below(29)) * _HOUR
        self._change_order("late_update", at, self._recent_order(at), hours_ago)

    def _deleted_order(self, at: datetime) -> None:
        before = self._any_order()
        customer_id = before["customer_id"]
        self.orders_of[customer_id] -= 1
        if not self.orders_of[customer_id]:
            self.without_orders[customer_id] = None
        self.tables.record("deleted_order", at, "orders", None, before)

    def _deleted_customer(self, at: datetime) -> None:
        customer_id = next(iter(self.without_orders), None)
        if customer_id is None:
            self._new_customer(at)
        else:
            del self.without_orders[customer_id]
            before = self.tables.rows["customers"][customer_id]
            self.tables.record("deleted_customer", at, "customers", None, before)

    def _movement(self, at: datetime) -> None:
        self.warehouses.move(at, self._clock(at))

    def _corrected_movement(self, at: datetime) -> None:
        self.warehouses.correct(at)

    def _cancelled_movement(self, at: datetime) -> None:
        self.warehouses.cancel(at)

    def _reprice(self, at: datetime, count: int) -> None:
        """Raise many prices at the same time."""
        for order_id in self.rng.sample(tuple(self.tables.rows["orders"]), count):
            before = self.tables.rows["orders"][order_id]
            price = before["price"] + _money(1 + self.rng.below(99))
            row = before | {"price": price, "updated_at": max(at, before["updated_at"])}
            self.tables.record("repriced", at, "orders", row, before)

    # Helpers of the operations.

    def _add_customer(self, reason: str, at: datetime, created: datetime) -> None:
        customer_id = self.tables.next_id("customers")
        self.without_orders[customer_id] = None
        row = {
            "customer_id": customer_id,
            "name": f"{self.rng.one_of(FIRST_NAMES)} {self.rng.one_of(LAST_NAMES)}",
            "email": f"customer{customer_id}@example.com" if customer_id % _NO_EMAIL_EVERY else None,
            "created_at": created,
            "updated_at": created,
        }
        self.tables.record(reason, at, "customers", row, None)

    def _add_order(self, reason: str, at: datetime, updated: datetime, customer: Row) -> None:
        product = self.rng.one_of(PRODUCTS)
        self.orders_of[customer["customer_id"]] += 1
        self.without_orders.pop(customer["customer_id"], None)
        row = {
            "order_id": self.tables.next_id("orders"),
            "customer_id": customer["customer_id"],
            "product_name": product,
            "quantity": 1 + self.rng.below(5),
            "price": _money(CENTS[product]),
            "order_date": updated.date(),
            "updated_at": updated,
        }
        self.tables.record(reason, at, "orders", row | self._channel(row), None)

    def _change_order(self, reason: str, at: datetime, before: Row, updated: datetime) -> None:
        row = before | self._channel(before) | {"updated_at": max(updated, before["updated_at"])}
        what = self.rng.below(3)
        if what == 0:
            row["quantity"] = 1 + (before["quantity"] + self.rng.below(4)) % 5
        elif what == 1:
            row["price"] = before["price"] + _money(1 + self.rng.below(300))
        else:
            row["product_name"] = self.rng.name(dict.fromkeys(PRODUCTS, 1), before["product_name"])
        self.last_changed = row["order_id"]
        self.tables.record(reason, at, "orders", row, before)

    def _channel(self, row: Row) -> Row:
        if not self.tables.has_channel:
            return {}
        return {"channel": row.get("channel") or self.rng.one_of(CHANNELS)}

    def _any_order(self) -> Row:
        return self.tables.living("orders")

    def _recent_order(self, at: datetime) -> Row:
        oldest = at.date() - (LOOKBACK_DAYS - 1) * _DAY
        first = min(number for day, number in self.first_orders.items() if day >= oldest)
        return self.tables.living("orders", first)

    def _clock(self, at: datetime) -> datetime:
        if self.rng.below(100) >= _SKEWED:
            return at
        off = (1 + self.rng.below(SKEW // _MINUTE)) * _MINUTE
        return at + off if self.rng.below(2) else at - off


def _money(cents: int) -> Decimal:
    return Decimal(cents).scaleb(-2)
