"""Random histories of inputs: what each kind of changes is, and how a history gets smaller."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random

import pytest

from tidemark.engine.prove.drawing import Chance, Table
from tidemark.engine.prove.stock.changes import KINDS, Drawer, kinds_for
from tidemark.engine.prove.stock.history import FIRST, Change, History
from tidemark.engine.prove.stock.running import difference, windows
from tidemark.engine.prove.stock.settings import Settings

pytestmark = pytest.mark.R2
ORDERS = Table(
    "orders",
    {"order_id": "bigint", "customer_id": "bigint", "amount": "double", "updated_at": "timestamp"},
    ("order_id",),
    frozenset({"order_id"}),
    meets=frozenset({"customer_id"}),
)
CUSTOMERS = Table("customers", {"customer_id": "bigint", "country": "string"}, ("customer_id",))
TABLES = {"orders": ORDERS, "customers": CUSTOMERS}


def drawn(kind: str, number: int) -> History:
    """A history of orders."""
    return Drawer(TABLES, Chance(Random(f"{kind} {number}"), {}, 0.5)).history("orders", kind)


@pytest.mark.parametrize("kind", KINDS)
def test_a_history_has_changes_of_its_kind(kind: str) -> None:
    """R2.5: 50 of each; what new rows are is the same in all."""
    for number in range(50):
        history = drawn(kind, number)
        rows = dict(history.before["orders"])
        for run, changes in enumerate(history.steps, start=1):
            for change in changes:
                _check(change, rows, FIRST + timedelta(days=run), kind)
                if change.row is None:
                    del rows[change.place]
                else:
                    rows[change.place] = change.row
        assert [*history.states()][-1][1]["orders"] == [*rows.values()]
        assert kind != "empty" or not history.before["orders"]


def _check(change: Change, rows: dict[int, dict[str, object]], now: datetime, kind: str) -> None:
    """Fail if a change is not what its words say."""
    old, new = rows.get(change.place), change.row
    newest = now - timedelta(days=1)
    if change.words == "a new row":
        assert old is None
        assert new is not None
        assert newest < new["updated_at"] < now  # type: ignore[operator]
        assert new["order_id"] not in [row["order_id"] for row in rows.values()]
    elif kind == "late":
        assert new is not None
        assert new["updated_at"] < newest  # type: ignore[operator]
    elif kind == "tied":
        assert new is not None
        assert new["updated_at"] == max(row["updated_at"] for row in rows.values())  # type: ignore[type-var]
    elif kind == "repeated":
        assert new in rows.values()
    elif kind == "deleted":
        assert old is not None
        assert new is None
    else:
        assert old is not None
        assert new is not None
        assert (new["updated_at"] == old["updated_at"]) is (kind == "edited")
        assert new["order_id"] == old["order_id"]
        assert kind != "moved" or new["customer_id"] != old["customer_id"]


def test_kinds_that_need_a_time_are_left_out_without_one() -> None:
    """R2.5: and moves, where no query groups or joins."""
    assert kinds_for(ORDERS) == [*KINDS]
    assert kinds_for(CUSTOMERS) == ["new", "empty", "repeated", "updated", "deleted"]


def test_a_smaller_history_keeps_the_rows_that_its_changes_name() -> None:
    """R2.5: a row that is updated or deleted stays, and each has one thing less."""
    for kind in KINDS:
        for number in range(20):
            history = drawn(kind, number)
            for one in history.smaller():
                assert _size(one) < _size(history)
                places = set(one.before["orders"])
                for change in (change for changes in one.steps for change in changes):
                    assert change.like is None or change.like in places
                    places.add(change.place)


def _size(history: History) -> int:
    return len(history.steps) + sum(map(len, history.steps)) + sum(map(len, history.before.values()))


def test_a_smaller_history_has_its_kind_of_changes_and_keeps_its_times() -> None:
    """R2.5: else it would show another fault than its title."""
    for number in range(40):
        history = drawn("late", number)
        for one in history.smaller():
            late = [
                (run, change)
                for run, step in enumerate(one.steps)
                for change in step
                if change.kind == "late"
            ]
            assert late
            for run, change in late:
                assert change.row is not None
                assert change.row["updated_at"] < FIRST + timedelta(days=run)


def test_declared_keys_are_kept() -> None:
    """R2.5: also a second one, and one that is a date."""
    columns = {"id": "bigint", "email": "string", "day": "date"}
    for key, keys in ((("id",), (("email",),)), (("day",), ())):
        table = Table("t", columns, key, frozenset(key), keys=keys)
        for number in range(50):
            drawer = Drawer({"t": table}, Chance(Random(number), {}, 0.5))
            for _, rows in drawer.history("t", "new").states():
                for one in (key, *keys):
                    values = [tuple(row[name] for name in one) for row in rows["t"]]
                    assert len(set(values)) == len(values)


def test_an_update_sets_the_times_of_updates() -> None:
    """R2.5: not those of the order."""
    table = Table(
        "t", {"id": "int", "n": "int", "ordered_at": "timestamp", "updated_at": "timestamp"}, ("id",)
    )
    for number in range(20):
        history = Drawer({"t": table}, Chance(Random(number), {}, 0.5)).history("t", "updated", mixed=False)
        before = history.before["t"]
        for change in history.steps[0]:
            assert change.row is not None
            if change.place in before:
                assert change.row["ordered_at"] == before[change.place]["ordered_at"]
                assert change.row["updated_at"] > before[change.place]["updated_at"]


def test_rows_are_compared_as_a_bag() -> None:
    """R2.5: equal rows are counted; sums of doubles may differ in the last digits."""
    one, two = {"a": 1, "b": 0.1 + 0.2}, {"a": 1, "b": 0.3}
    assert difference(["a", "b"], [one, one], [two, two]) == ([], [])
    assert difference(["a", "b"], [one], [two, two]) == ([], [two])
    assert difference(["a"], [{"a": 1, "b": 1}], [{"a": 1, "b": 2}]) == ([], [])


def test_batches_are_those_of_microbatch() -> None:
    """R2.5: the current batch and those of the lookback; a first run takes all that have rows."""
    settings = Settings("microbatch", event_time="at", batch_size="month", lookback=1)
    now = datetime(2025, 3, 31, 12)
    moments = [datetime(2024, 12, 31, 23), datetime(2025, 2, 1)]
    later = [(datetime(2025, 2, 1), datetime(2025, 3, 1)), (datetime(2025, 3, 1), datetime(2025, 4, 1))]
    assert windows(settings, now, moments, first=False) == later
    assert windows(settings, now, moments, first=True) == [
        (datetime(2024, 12, 1), datetime(2025, 1, 1)),
        *later,
    ]
