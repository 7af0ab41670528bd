"""Device events: what was taken in last counts, and late events rewrite their own partitions alone."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.conftest import ONLY_TABLES, ROOT, Lakehouse
from tidemark.cli.build import build_models
from tidemark.cli.landing import land
from tidemark.cli.rebuild import rebuild_range
from tidemark.engine.verify.verify import verify
from tidemark.maintain.maintenance import chosen_tables, compact
from tidemark.project_with_feeds import ProjectWithFeeds

pytestmark = pytest.mark.R5
RAW = ROOT / "data" / "raw" / "device_events"
DAYS = [date(2025, 1, day) for day in range(1, 8)]
PARTITIONED = ("silver.device_events", "gold.device_hours", "gold.device_gaps")
LATE, VERY_LATE = date(2025, 1, 6), date(2025, 1, 2)


@dataclass
class Fleet:
    """The device models on schemas of their own; `files` are those of each partition, before and after."""

    lakehouse: Lakehouse
    before: dict[str, dict[date, set[str]]]
    after: dict[str, dict[date, set[str]]]

    def build(self, *options: str) -> None:
        lakehouse = ProjectWithFeeds.load()
        land(self.lakehouse.spark, lakehouse, [lakehouse.feeds["device_events"]])
        build_models(("--select", "source:bronze.device_events+", *options), lakehouse)

    def files(self) -> dict[str, dict[date, set[str]]]:
        found: dict[str, dict[date, set[str]]] = {}
        for name in PARTITIONED:
            rows = (
                self.lakehouse.table(name).selectExpr("event_date", "_metadata.file_path as path").distinct()
            )
            found[name] = {day: set() for day in DAYS}
            for row in rows.collect():
                found[name][row["event_date"]].add(row["path"])
        return found


@pytest.fixture(scope="module")
def fleet(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    raw = tmp_path_factory.mktemp("raw")
    shutil.copytree(RAW, raw / "device_events")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIDEMARK_SCHEMA", "fleet")
        patch.setenv("TIDEMARK_RAW", str(raw))
        fleet = Fleet(Lakehouse(spark, raw, "fleet"), {}, {})
        fleet.build(*ONLY_TABLES)
        fleet.before = fleet.files()
        lines = [reading(LATE, "2025-01-08T00:10:00Z"), reading(VERY_LATE, "2025-01-11T00:10:00Z")]
        late = raw / "device_events" / "device_events_2025-01-11.json"
        late.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        fleet.build()
        fleet.after = fleet.files()
        yield fleet


def reading(day: date, ingest_ts: str) -> dict[str, Any]:
    return {
        "event_id": f"late-{day}",
        "device_id": "device-0001",
        "event_ts": f"{day}T12:34:56.789Z",
        "temperature": 99.5,
        "battery": 50,
        "status": "ok",
        "ingest_ts": ingest_ts,
    }


def sent(raw: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """The newest message of each device and time, read without Spark."""
    newest: dict[tuple[str, str], dict[str, Any]] = {}
    for file in sorted(raw.glob("device_events/*.json")):
        for line in file.read_text(encoding="utf-8").splitlines():
            event = json.loads(line)
            key = (event["device_id"], event["event_ts"])
            if key not in newest or order(event) > order(newest[key]):
                newest[key] = event
    return newest


def order(event: dict[str, Any]) -> tuple[datetime, str]:
    return datetime.fromisoformat(event["ingest_ts"].replace("Z", "+00:00")), event["event_id"]


@pytest.mark.core
def test_the_last_ingested_row_wins(fleet: Fleet) -> None:
    """R5.2: one row per device and time, as counted without Spark."""
    expected = sent(fleet.lakehouse.raw)
    rows = fleet.lakehouse.table("silver.device_events").select("event_id", "temperature").collect()
    assert len(rows) == len(expected)
    temperatures = {row["event_id"]: row["temperature"] for row in rows}
    assert {event["event_id"] for event in expected.values()} == set(temperatures)
    for event in expected.values():
        found = temperatures[event["event_id"]]
        assert (found if found is None else float(found)) == event["temperature"]


@pytest.mark.core
def test_late_events_rewrite_their_partitions_alone(fleet: Fleet) -> None:
    """R5.3: a day late or nine, in silver and gold: files of other days stay as they are."""
    for name in ("silver.device_events", "gold.device_hours"):
        changed = {day for day in DAYS if fleet.before[name][day] != fleet.after[name][day]}
        assert changed == {LATE, VERY_LATE}, name
    gaps = fleet.before["gold.device_gaps"], fleet.after["gold.device_gaps"]
    assert {day for day in DAYS if gaps[0][day] != gaps[1][day]} <= {LATE, VERY_LATE}
    days = fleet.lakehouse.table("gold.device_days").where("device_id = 'device-0001'")
    hottest = {row["event_date"] for row in days.where("highest_temperature = 99.5").collect()}
    assert hottest == {LATE, VERY_LATE}


@pytest.mark.core
@pytest.mark.parametrize("name", ["silver.device_events", "gold.device_hours"])
def test_a_range_of_dates_reads_its_partitions_alone(fleet: Fleet, name: str) -> None:
    """R5.4: the files that the plan reads are those of the range."""
    ranged = fleet.lakehouse.table(name).where("event_date between '2025-01-03' and '2025-01-04'")
    read = {path.rpartition("event_date=")[2].partition("/")[0] for path in ranged.inputFiles()}
    assert read == {"2025-01-03", "2025-01-04"}


@pytest.mark.core
def test_device_tables_equal_a_rebuild(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    """R5.5: after late events every table is what bronze gives anew."""
    monkeypatch.setenv("TIDEMARK_SCHEMA", "fleet")
    monkeypatch.setenv("TIDEMARK_RAW", str(fleet.lakehouse.raw))
    models = ["device_events", "rejected_device_events", "device_hours", "device_days", "device_gaps"]
    verdicts = list(verify(fleet.lakehouse.spark, models))
    assert [verdict.table for verdict in verdicts if not verdict.holds] == []
    assert len(verdicts) == len(models)


@pytest.mark.R4
def test_all_tables_of_state_can_be_compacted(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    """R4.4: `tidemark maintain` takes the tables that there are; views are none of them."""
    monkeypatch.setenv("TIDEMARK_SCHEMA", "fleet")
    spark = fleet.lakehouse.spark
    there = chosen_tables(spark, ProjectWithFeeds.load().tables, [])
    assert {f"fleet_{name}" for name in PARTITIONED} < set(there)
    state = [table for table in there if table.startswith("fleet_ops.")]
    assert state == ["fleet_ops.ingested_files", "fleet_ops.runs"]
    assert all(before >= after for before, after in (compact(spark, table) for table in state))


def test_a_range_of_dates_is_rebuilt_from_bronze(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    """R5.5: what was spoilt in two days comes right; other days stay; a second replay writes nothing."""
    monkeypatch.setenv("TIDEMARK_SCHEMA", "fleet")
    monkeypatch.setenv("TIDEMARK_RAW", str(fleet.lakehouse.raw))
    spark, models = fleet.lakehouse.spark, ["device_events", "device_hours", "device_gaps"]
    spoilt = date(2025, 1, 3), date(2025, 1, 4)
    spark.sql(f"update fleet_silver.device_events set battery = 0 where event_date = '{spoilt[0]}'")
    spark.sql(f"delete from fleet_gold.device_hours where event_date = '{spoilt[1]}'")
    before = fleet.files()
    assert [verdict.table for verdict in verify(spark, models) if not verdict.holds] == [
        "fleet_silver.device_events",
        "fleet_gold.device_hours",
    ]
    rebuild_range(models, "2025-01-03", "2025-01-04")
    after = fleet.files()
    changed = {name: {day for day in DAYS if before[name][day] != after[name][day]} for name in PARTITIONED}
    assert changed["silver.device_events"] == {spoilt[0]}
    assert changed["gold.device_hours"] == {spoilt[1]}
    assert changed["gold.device_gaps"] == set()
    assert [verdict.table for verdict in verify(spark, models) if not verdict.holds] == []
    again = rebuild_range(models, "2025-01-03", "2025-01-04")
    assert {table.message for table in again.tables} == {"no change"}
