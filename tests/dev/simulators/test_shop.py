"""The simulated shop is repeatable, and does each day what makes a source hard to follow."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from dev.simulators.operations import CHANGED_AT, TABLES, Day, Operation
from dev.simulators.shop import LOOKBACK_DAYS, SKEW, shop_days

START = date(2025, 3, 1)
LATE = ("late_update", "unmoved_update")
State = dict[str, dict[int, dict[str, Any]]]


@cache
def fortnight() -> list[Day]:
    return list(shop_days(START, 14, 300, 7))


def operations() -> list[Operation]:
    return [operation for day in fortnight() for operation in day.operations]


def after(days: list[Day]) -> State:
    """The tables after some days, in plain Python; each operation must fit what is there."""
    tables: State = {table: {} for table in TABLES}
    for operation in (one for day in days for one in day.operations):
        rows = tables[operation.table]
        assert operation.before == rows.get(operation.key) or operation.table == "orders"
        assert (operation.before is None) == (operation.key not in rows) == (operation.kind == "insert")
        if operation.kind == "delete":
            del rows[operation.key]
        else:
            rows[operation.key] = operation.row
    return tables


@pytest.mark.R3
def test_the_same_seed_gives_the_same_days() -> None:
    """R3.6: and a longer simulation does not change them, until the new column comes."""
    assert list(shop_days(START, 14, 300, 7)) == fortnight()
    assert list(shop_days(START, 30, 300, 7))[:7] == fortnight()[:7]
    assert list(shop_days(START, 14, 300, 8)) != fortnight()


def test_a_known_day() -> None:
    """The same on every Python: the draws are `random()` alone."""
    (day,) = shop_days(START, 1, 20, 1)
    last = day.operations[-1]
    assert (last.reason, last.sequence, last.key) == ("unmoved_update", 53, 26)
    assert last.at.isoformat() == "2025-03-01T18:02:55.993251+00:00"
    assert sum(day.counts.values()) == len(day.operations) == 53


@pytest.mark.core
@pytest.mark.R3
def test_what_happens_is_in_known_shares() -> None:
    """R3.6: new and changed customers and orders, late updates, deletes, every day."""
    for day in fortnight()[1:]:
        assert 285 <= len(day.operations) <= 310
        assert day.counts == {
            "cancelled_movement": 3,
            "changed_again": 18,
            "changed_customer": 33,
            "changed_order": 45,
            "corrected_movement": 3,
            "deleted_customer": 3,
            "deleted_order": 6,
            "late_update": 9,
            "movement": 15,
            "new_customer": 33,
            "new_order": 99,
            "repriced": 30,
            "unmoved_update": 9,
        }
    assert fortnight()[0].counts["stock"] == 450


def test_time_and_sequence_grow_and_ids_begin_at_one() -> None:
    every = operations()
    assert [one.sequence for one in every] == list(range(1, len(every) + 1))
    assert all(earlier.at <= later.at for earlier, later in pairwise(every))
    assert all(one.at.date() == day.date for day in fortnight() for one in day.operations)
    for table in TABLES:
        ids = [one.key for one in every if one.table == table and one.kind == "insert"]
        assert ids == list(range(1, len(ids) + 1))


def test_each_operation_fits_the_rows_before_it() -> None:
    """No row is inserted twice, or changed after its delete; a customer with orders stays."""
    for days in range(1, 15):
        tables = after(fortnight()[:days])
        customers = {row["customer_id"] for row in tables["orders"].values()}
        assert customers <= tables["customers"].keys()


def test_rows_have_the_columns_of_their_table() -> None:
    for one in operations():
        assert list(one.row)[: len(TABLES[one.table])] == list(TABLES[one.table])


def test_the_first_day_begins_with_a_stock_of_all_ages() -> None:
    stock = [one for one in fortnight()[0].operations if one.reason == "stock"]
    for table, oldest in ("customers", 90), ("orders", 60):
        ages = [(one.at - one.row["updated_at"]).days for one in stock if one.table == table]
        assert min(ages) == 0
        assert oldest - 1 <= max(ages) <= oldest
        assert sum(age > 30 for age in ages) > len(ages) / 3


def test_an_update_changes_the_row_and_never_takes_its_time_back() -> None:
    for one in operations():
        if one.before and one.kind == "update":
            changed = {name for name in one.row if one.row[name] != one.before[name]}
            assert changed - {"updated_at", "channel"}
            time = CHANGED_AT[one.table]
            assert one.row[time] >= one.before[time]


@pytest.mark.R2
def test_stock_on_hand_is_never_negative() -> None:
    """R2.2: after each movement, correction and cancellation; goods are taken, too."""
    held: Counter[tuple[str, str]] = Counter()
    movements = [one for one in operations() if one.table == "inventory_movements"]
    for one in movements:
        for row, sign in (one.before, -1), (one.kind != "delete" and one.row, 1):
            if row:
                assert row["quantity"] != 0
                held[row["product_name"], row["warehouse"]] += sign * row["quantity"]
        assert min(held.values()) >= 0
    assert {one.kind for one in movements} == {"insert", "update", "delete"}
    assert sum(one.kind == "insert" and one.row["quantity"] < 0 for one in movements) > 50
    corrected = [(one.before, one.row) for one in movements if one.kind == "update" and one.before]
    assert {before["warehouse"] == row["warehouse"] for before, row in corrected} == {True, False}


@pytest.mark.R3
def test_late_updates_are_of_recent_orders() -> None:
    """R3.1: a lookback of 7 days by order_date finds all of them."""
    for one in (one for one in operations() if one.reason in LATE):
        assert (one.at.date() - one.row["order_date"]).days < LOOKBACK_DAYS
        is_moved = one.before is None or one.row["updated_at"] != one.before["updated_at"]
        assert not is_moved or one.at - one.row["updated_at"] >= timedelta(hours=2)
    stamped = [one for one in operations() if one.table == "orders" and one.kind != "delete"]
    kinds = {one.reason for one in stamped if one.row["updated_at"].date() < one.at.date()}
    assert kinds == {*LATE, "stock"}


@pytest.mark.R3
def test_a_reader_after_each_day_needs_the_lookback_and_nothing_else() -> None:
    """R3.1: what changed is past the mark, or has a recent order_date."""
    missed = 0
    previous = after(fortnight()[:1])
    for number in range(2, 15):
        now, day = after(fortnight()[:number]), fortnight()[number - 1].date
        for table in ("customers", "orders"):
            mark = max(row["updated_at"] for row in previous[table].values())
            for key, row in now[table].items():
                if row != previous[table].get(key):
                    is_past = row["updated_at"] > mark
                    missed += not is_past
                    assert is_past or row["order_date"] > day - timedelta(days=LOOKBACK_DAYS)
        previous = now
    assert missed > 20


@pytest.mark.R3
def test_many_rows_share_one_updated_at() -> None:
    """R3.3: ties."""
    for day in fortnight():
        times = Counter(one.row["updated_at"] for one in day.operations if one.reason == "repriced")
        assert max(times.values()) >= 20


def test_clocks_are_off_by_minutes() -> None:
    stamped = [one for one in operations() if one.reason in ("new_customer", "new_order")]
    off = {one.row["updated_at"] - one.at for one in stamped}
    assert min(off) == -SKEW
    assert max(off) == SKEW
    assert 0.03 < sum(one.row["updated_at"] != one.at for one in stamped) / len(stamped) < 0.1
    assert all(one.row["updated_at"].date() == one.at.date() for one in stamped)


def test_some_rows_change_several_times_a_day() -> None:
    for day in fortnight():
        changes = Counter(one.key for one in day.operations if (one.table, one.kind) == ("orders", "update"))
        assert max(changes.values()) >= 3


@pytest.mark.R3
def test_orders_have_a_new_column_from_half_way_on() -> None:
    """R3.4: filled by inserts and changes after that only."""
    for day in fortnight():
        is_new = day.date >= START + timedelta(days=7)
        for one in day.operations:
            assert ("channel" in one.row) == (is_new and one.table == "orders")
            if is_new and one.reason in ("new_order", "changed_order"):
                assert one.row["channel"] in ("app", "phone", "web")
    assert {row.get("channel") for row in after(fortnight())["orders"].values()} == {
        "app",
        "phone",
        "web",
        None,
    }


def test_names_and_emails_are_awkward() -> None:
    customers = [one.row for one in operations() if one.reason == "new_customer"]
    names = "".join(row["name"] for row in customers)
    assert "'" in names
    assert "," in names
    assert not names.isascii()
    assert 0 < sum(row["email"] is None for row in customers) < len(customers) / 10


@pytest.mark.parametrize("seed", range(20))
def test_the_smallest_shop_can_be_simulated(seed: int) -> None:
    days = list(shop_days(START, 40, 20, seed))
    assert all(20 <= len(day.operations) <= 60 + 24 for day in days)
    assert after(days)["orders"]


@pytest.mark.parametrize(("days", "rows"), [(0, 100), (1, 19)])
def test_a_size_that_is_too_small_is_refused(days: int, rows: int) -> None:
    with pytest.raises(ValueError, match="give 1 or more days, 20 or more rows"):
        shop_days(START, days, rows, 1)
