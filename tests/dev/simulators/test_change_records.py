"""Change records say what the operations did, in whatever order and however often they arrive."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dev.simulators.change_records import Record, disturbed, envelope, flat, plain
from dev.simulators.operations import KEYS, Operation
from dev.simulators.rng import Rng
from dev.simulators.shop import shop_days

WEEK = [one for day in shop_days(date(2025, 1, 1), 7, 200, 3) for one in day.operations]
METADATA = {"change_type", "sequence", "changed_at"}
Rows = dict[int, dict[str, Any]]


def of(table: str) -> list[Operation]:
    return [one for one in WEEK if one.table == table]


def final(table: str) -> Rows:
    rows: Rows = {}
    for one in of(table):
        if one.kind == "delete":
            del rows[one.key]
        else:
            rows[one.key] = plain(one.row)
    return rows


def apply_flat(records: list[Record], key: str) -> Rows:
    newest: dict[int, Record] = {}
    for record in records:
        known = newest.get(record[key])
        if known is None or record["sequence"] > known["sequence"]:
            newest[record[key]] = record
    return {
        number: {name: value for name, value in record.items() if name not in METADATA}
        for number, record in newest.items()
        if record["change_type"] != "delete"
    }


def apply_envelopes(records: list[Record], key: str) -> Rows:
    newest: dict[int, Record] = {}
    for record in records:
        number = (record["after"] or record["before"])[key]
        known = newest.get(number)
        if known is None or record["source"]["lsn"] > known["source"]["lsn"]:
            newest[number] = record
    return {number: record["after"] for number, record in newest.items() if record["op"] != "d"}


@pytest.mark.R3
@pytest.mark.parametrize("table", list(KEYS))
def test_records_give_the_final_rows(table: str) -> None:
    """R3.5: applied by sequence, in order or disturbed, flat or in envelopes."""
    flats = [flat(one) for one in of(table)]
    envelopes = [envelope(one, one.before) for one in of(table)]
    expected = final(table)
    assert apply_flat(flats, KEYS[table]) == expected
    assert apply_flat(list(disturbed(flats, Rng(5))), KEYS[table]) == expected
    assert apply_envelopes(envelopes, KEYS[table]) == expected
    assert apply_envelopes(list(disturbed(envelopes, Rng(6))), KEYS[table]) == expected


def test_a_flat_record() -> None:
    deleted = next(one for one in WEEK if one.reason == "deleted_order")
    record = flat(deleted)
    assert list(record)[:4] == ["change_type", "sequence", "changed_at", "order_id"]
    assert (record["change_type"], record["order_id"]) == ("delete", deleted.key)
    assert record["changed_at"] == f"{deleted.at:%Y-%m-%dT%H:%M:%S.%f}Z"
    assert record["price"] == float(deleted.row["price"])


def test_envelopes_have_the_letters_and_images_of_their_kind() -> None:
    images = {}
    for one in WEEK:
        record = envelope(one, one.before)
        images[record["op"]] = (record["before"] is not None, record["after"] is not None)
        assert record["source"] == {"table": one.table, "lsn": one.sequence, "ts_ms": record["ts_ms"]}
        assert record["ts_ms"] == int(one.at.timestamp() * 1000)
    assert images == {"r": (False, True), "c": (False, True), "u": (True, True), "d": (True, False)}


def test_records_survive_json() -> None:
    for one in WEEK:
        for record in (flat(one), envelope(one, one.before)):
            assert json.loads(json.dumps(record)) == record


@given(st.lists(st.integers()), st.integers(0, 2**32))
def test_disturbing_loses_and_adds_nothing(records: list[int], seed: int) -> None:
    numbered = list(enumerate(records))
    assert set(disturbed(numbered, Rng(seed))) == set(numbered)


def test_disturbing_repeats_and_reorders_repeatably() -> None:
    sent = list(disturbed(range(1000), Rng(1)))
    assert 1050 < len(sent) < 1150
    firsts = list(dict.fromkeys(sent))
    assert firsts != sorted(firsts)
    assert sent == list(disturbed(range(1000), Rng(1)))
