"""Inventory movements come as change records, corrected and cancelled; on hand is what they add up to."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dev.simulators.change_records import Record, disturbed, flat
from dev.simulators.operations import Operation
from dev.simulators.rng import Rng
from dev.simulators.shop import shop_days
from tests.conftest import ONLY_TABLES, Lakehouse
from tidemark.cli.build import build_models
from tidemark.cli.landing import land
from tidemark.engine.verify.verify import verify
from tidemark.project_with_feeds import ProjectWithFeeds

pytestmark = [pytest.mark.R2, pytest.mark.R3]
START, DAYS, ROWS, SEED = date(2025, 1, 1), 4, 600, 11
MODELS = ["inventory_movements", "rejected_inventory_movements", "inventory_on_hand"]
BROKEN = [
    ({"change_type": "moved"}, "change_type is not known"),
    ({"quantity": "a dozen"}, "quantity is not a whole number"),
    ({"warehouse": " "}, "warehouse is missing"),
]
OnHand = dict[tuple[str, str], tuple[int, int, datetime]]


@dataclass
class Stock:
    """The inventory models on schemas of their own.

    Attributes:
        days: what happened in the warehouses.
        sent: the sound records that came, day by day, in their order.
        on_hand: the gold table after each day.
        message: what each model wrote in the last build.
    """

    lakehouse: Lakehouse
    days: list[list[Operation]]
    sent: list[list[Record]] = field(default_factory=list)
    on_hand: list[OnHand] = field(default_factory=list)
    message: dict[str, str] = field(default_factory=dict)

    def send(self, name: str, records: list[Record]) -> None:
        text = "".join(json.dumps(record) + "\n" for record in records)
        folder = self.lakehouse.raw / "inventory_movements"
        (folder / f"inventory_movements_{name}.json").write_text(text, encoding="utf-8")

    def build(self, *options: str) -> None:
        lakehouse = ProjectWithFeeds.load()
        land(self.lakehouse.spark, lakehouse, [lakehouse.feeds["inventory_movements"]])
        built = build_models(("--select", "source:bronze.inventory_movements+", *options), lakehouse)
        self.message = {table.table.removeprefix("stock_"): table.message for table in built.tables}

    def held(self) -> OnHand:
        rows = self.lakehouse.table("gold.inventory_on_hand").collect()
        found: OnHand = {(row[0], row[1]): (row[2], row[3], row[4]) for row in rows}
        assert len(found) == len(rows)
        return found


@pytest.fixture(scope="module")
def stock(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stock]:
    """Each day's records come by a careless transport: some twice, some after later ones, some a day late."""
    raw = tmp_path_factory.mktemp("raw")
    (raw / "inventory_movements").mkdir()
    days = [
        [one for one in day.operations if one.table == "inventory_movements"]
        for day in shop_days(START, DAYS, ROWS, SEED)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIDEMARK_SCHEMA", "stock")
        patch.setenv("TIDEMARK_RAW", str(raw))
        stock, rng, late = Stock(Lakehouse(spark, raw, "stock"), days), Rng(SEED), []
        for number, operations in enumerate(days):
            today, is_last = [flat(one) for one in operations], number == DAYS - 1
            delayed = [] if is_last else rng.sample(today, len(today) // 5)
            records = [record for record in today if record not in delayed]
            stock.sent.append(list(disturbed([*records, *late], rng)))
            broken = [today[0] | fault for fault, _ in BROKEN] if number == 1 else []
            stock.send(str(START.replace(day=1 + number)), [*stock.sent[-1], *broken])
            stock.build(*([] if is_last else ONLY_TABLES))
            stock.on_hand.append(stock.held())
            late = delayed
        yield stock


def added_up(records: list[Record]) -> OnHand:
    """What is on hand by the newest record of each movement, in plain Python."""
    newest: dict[int, Record] = {}
    for record in records:
        known = newest.get(record["movement_id"])
        if known is None or record["sequence"] > known["sequence"]:
            newest[record["movement_id"]] = record
    found: OnHand = {}
    for record in newest.values():
        if record["change_type"] != "delete":
            place = (record["product_name"], record["warehouse"])
            moved_at = datetime.fromisoformat(record["moved_at"].removesuffix("Z"))
            count, quantity, last = found.get(place, (0, 0, moved_at))
            found[place] = (count + 1, quantity + record["quantity"], max(last, moved_at))
    return found


def test_on_hand_is_what_the_records_add_up_to(stock: Stock) -> None:
    """R2.2: after each batch, with repeats, corrections, cancellations and late records."""
    kinds = Counter(record["change_type"] for records in stock.sent for record in records)
    assert min(kinds["update"], kinds["delete"]) > 15
    for number, found in enumerate(stock.on_hand):
        arrived = [record for records in stock.sent[: number + 1] for record in records]
        assert found == added_up(arrived), f"after day {number + 1}"


def test_on_hand_is_what_the_warehouses_hold(stock: Stock) -> None:
    """R2.2: once all records are there, what is on hand is what the warehouses hold, and not below 0."""
    held: Counter[tuple[str, str]] = Counter()
    for one in (one for operations in stock.days for one in operations):
        for row, sign in (one.before, -1), (one.kind != "delete" and one.row, 1):
            if row:
                held[row["product_name"], row["warehouse"]] += sign * row["quantity"]
    found = {place: quantity for place, (_, quantity, _) in stock.on_hand[-1].items()}
    assert found == {place: held[place] for place in found}
    assert sum(found.values()) == sum(held.values()) > 0
    assert min(found.values()) >= 0


def test_changes_are_applied_in_their_order(stock: Stock) -> None:
    """R3.5: each movement is as its last change left it; a cancelled one stays, flagged."""
    last: dict[int, tuple[Any, ...]] = {}
    for one in (one for operations in stock.days for one in operations):
        row = one.row
        place = row["product_name"], row["warehouse"], row["quantity"]
        last[one.key] = (one.key, *place, one.sequence, one.kind == "delete")
    silver = stock.lakehouse.table("silver.inventory_movements").select(
        "movement_id", "product_name", "warehouse", "quantity", "sequence", "_is_deleted"
    )
    assert sorted(tuple(row) for row in silver.collect()) == sorted(last.values())


def test_broken_records_are_set_aside(stock: Stock) -> None:
    """R3.5: a change of no known kind, quantity or warehouse changes nothing and is kept with its reason."""
    rejected = stock.lakehouse.table("silver.rejected_inventory_movements").select("rejection_reason")
    assert sorted(row[0] for row in rejected.collect()) == sorted(reason for _, reason in BROKEN)


def test_inventory_tables_equal_a_rebuild(stock: Stock, monkeypatch: pytest.MonkeyPatch) -> None:
    """R2.2: after all batches every table is what bronze gives anew."""
    monkeypatch.setenv("TIDEMARK_SCHEMA", "stock")
    monkeypatch.setenv("TIDEMARK_RAW", str(stock.lakehouse.raw))
    verdicts = list(verify(stock.lakehouse.spark, MODELS))
    assert [verdict.table for verdict in verdicts if not verdict.holds] == []
    assert len(verdicts) == len(MODELS)


def test_repeated_rows_write_nothing(stock: Stock, monkeypatch: pytest.MonkeyPatch) -> None:
    """R3.5: silver and gold keep their versions, also after all records came again."""
    monkeypatch.setenv("TIDEMARK_SCHEMA", "stock")
    monkeypatch.setenv("TIDEMARK_RAW", str(stock.lakehouse.raw))
    before = stock.lakehouse.versions()
    stock.build()
    assert stock.lakehouse.versions() == before
    every = [record for records in stock.sent for record in records]
    stock.send("again", list(disturbed(every, Rng(1))))
    stock.build()
    assert stock.message["silver.inventory_movements"] == "no change"
    after = stock.lakehouse.versions()
    assert {name for name in before if before[name] != after[name]} == {"stock_bronze.inventory_movements"}
