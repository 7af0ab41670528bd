"""The main job on the real purchase log and a week of events, told once and looked at by many tests."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dev.simulators.user_events import simulate_user_events
from tests.conftest import ONLY_TABLES, ROOT, Lakehouse
from tests.lakehouse import by_hand
from tests.night import is_night
from tidemark.engine.dbt_core.commands import invoke_dbt
from tidemark.engine.explain import Plan, explain
from tidemark.engine.verify.verify import verify
from tidemark.engine.why.asked import Asked
from tidemark.engine.why.levels import why
from tidemark.engine.why.places import RECORD
from tidemark.project_with_feeds import ProjectWithFeeds

pytestmark = pytest.mark.R1
RAW = ROOT / "data" / "raw"
GENERATED_CODE = "spark.sql.codegen.wholeStage"  # on in users' sessions, off in those of other tests
SENT_ONCE = "_source_file not like '%again%'"
RESULTS = (
    "silver.transactions",
    "silver.rejected_transactions",
    "silver.user_events",
    "silver.rejected_user_events",
    "gold.daily_sales",
    "gold.weekly_sales",
    "gold.dates",
    "gold.customer_sales",
    "gold.daily_user_events",
    "gold.user_events_by_type",
    "gold.latest_user_events",
    "silver.device_events",
    "silver.rejected_device_events",
    "gold.device_hours",
    "gold.device_days",
    "gold.device_gaps",
    "silver.inventory_movements",
    "silver.rejected_inventory_movements",
    "gold.inventory_on_hand",
)


@dataclass
class Story:
    """The lakehouse after all steps, the tables' versions after each, and their rows after some."""

    lakehouse: Lakehouse
    explained: list[Plan]
    versions: dict[str, dict[str, int]]
    rows: dict[str, dict[str, list[tuple[Any, ...]]]]

    def note(self, step: str, *, rows: bool = False) -> None:
        self.versions[step] = self.lakehouse.versions()
        if rows:
            self.rows[step] = {name: self.lakehouse.rows(name) for name in RESULTS}


@pytest.fixture(scope="module")
def story(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    raw = tmp_path_factory.mktemp("raw")
    files = {
        "transactions": sorted((RAW / "transactions").glob("*.csv")),
        "user_events": sorted((RAW / "user_events").glob("*.csv")),
        "device_events": sorted((RAW / "device_events").glob("*.json")),
        "inventory_movements": sorted((RAW / "inventory_movements").glob("*.json")),
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIDEMARK_SCHEMA", "story")
        patch.setenv("TIDEMARK_RAW", str(raw))
        before = spark.conf.get(GENERATED_CODE)
        spark.conf.set(GENERATED_CODE, "true")
        story = Story(Lakehouse(spark, raw, "story"), [], {}, {})
        for name, found in files.items():
            (raw / name).mkdir()
            for file in found[:-1]:
                shutil.copy(file, raw / name)
        story.lakehouse.run(*ONLY_TABLES)
        for name, found in files.items():
            shutil.copy(found[-1], raw / name)
        story.lakehouse.run(*ONLY_TABLES)
        story.note("the last", rows=True)
        story.lakehouse.run(*ONLY_TABLES)
        story.note("nothing new")
        for name, found in files.items():
            for position, file in enumerate(reversed(found)):
                prefix = file.stem.rpartition("_")[0]
                shutil.copy(file, raw / name / f"{prefix}_again_{position:02}{file.suffix}")
        story.lakehouse.land()
        story.explained = explain(spark, [])
        for layer in ("silver", "gold"):  # dbt's commands as a user types them
            invoke_dbt(["--quiet", "run", "--select", layer])
        story.note("sent again", rows=is_night("full refresh"))
        yield story
        spark.conf.set(GENERATED_CODE, before)


def purchases() -> list[dict[str, str]]:
    """The purchase log, read without Spark."""
    found: list[dict[str, str]] = []
    for file in sorted((RAW / "transactions").glob("*.csv")):
        with file.open(encoding="utf-8", newline="") as lines:
            found.extend(csv.DictReader(lines))
    return found


@pytest.mark.core
def test_bronze_and_silver_hold_the_whole_log(story: Story) -> None:
    """R1.1, R1.2: as many rows and as much quantity as the files, counted without Spark."""
    log = purchases()
    quantity = sum(int(row["quantity"]) for row in log)
    assert (len(log), quantity) == (69_659, 167_881)
    silver = story.rows["the last"]["silver.transactions"]
    assert len(silver) == len(log)
    assert sum(row[3] for row in silver) == quantity
    assert story.lakehouse.table("bronze.transactions").where(SENT_ONCE).count() == len(log)


@pytest.mark.core
def test_gold_adds_up_to_the_log(story: Story) -> None:
    """R1.3: one row per day, and the totals of the files."""
    log = purchases()
    days = {row[0]: row for row in story.rows["the last"]["gold.daily_sales"]}
    assert len(days) == len({row["transaction_date"] for row in log})
    assert sum(row[1] for row in days.values()) == len(log)
    assert sum(row[4] for row in days.values()) == sum(Decimal(row["amount"]) for row in log)
    first = [row for row in log if row["transaction_date"] == "1997-01-01"]
    assert days[date(1997, 1, 1)] == (
        date(1997, 1, 1),
        len(first),
        len({row["customer_id"] for row in first}),
        sum(int(row["quantity"]) for row in first),
        sum(Decimal(row["amount"]) for row in first),
    )


@pytest.mark.core
def test_the_records_behind_a_day_give_its_row(story: Story) -> None:
    """R1.1, R1.3: `tidemark why` names records of files; read by hand, they give the day's numbers."""
    lakehouse = story.lakehouse
    asked = Asked("story_gold.daily_sales", {"sales_date": "1997-03-15"}, "amount", shown=1000)
    day, silver, bronze = why(lakehouse.spark, ProjectWithFeeds.load().manifest, asked)
    log: dict[str, dict[str, str]] = {}
    for row in bronze.shown:
        with (lakehouse.raw / "transactions" / row["_source_file"]).open(
            encoding="utf-8", newline=""
        ) as lines:
            record = [*csv.DictReader(lines)][row[RECORD] - 1]
        log[record["transaction_id"]] = record
    (found,) = day.shown
    amount = sum(Decimal(record["amount"]) for record in log.values())
    assert {record["transaction_date"] for record in log.values()} == {"1997-03-15"}
    assert (found["transaction_count"], found["amount"]) == (len(log), amount)
    assert silver.adds_up == f"sum(amount) = {amount}"


@pytest.mark.parametrize("table", [*by_hand.TABLES, "device_gaps"])
def test_the_records_behind_a_row_give_it(story: Story, table: str) -> None:
    """R1.3: the records that `tidemark why` names, read without Spark, give each gold row."""
    spark, raw = story.lakehouse.spark, story.lakehouse.raw
    manifest = ProjectWithFeeds.load().manifest
    (node,) = (one for one in manifest.nodes.values() if one.name == table)
    key = [node.config.unique_key] if isinstance(node.config.unique_key, str) else node.config.unique_key
    rows = spark.table(f"story_gold.{table}").orderBy(*key)
    wanted = rows.collect()[rows.count() // 2].asDict()
    conditions = {name: str(wanted[name]) for name in key}
    levels = [*why(spark, manifest, Asked(f"story_gold.{table}", conditions, shown=100_000))]
    bronze = [level for level in levels if level.is_landed]
    assert len(bronze) == 1
    feed = bronze[0].table.partition(".")[2]
    records = [by_hand.record_of(raw / feed / row["_source_file"], row[RECORD]) for row in bronze[0].shown]
    found = {name: by_hand.stored(value) for name, value in wanted.items()}
    is_gap = table == "device_gaps"
    computed = by_hand.gaps(records, found["silent_from"]) if is_gap else by_hand.TABLES[table](records)
    compared = {name: value for name, value in found.items() if name in computed}
    assert len(compared) >= 2
    assert compared == {name: computed[name] for name in compared}


@pytest.mark.core
def test_customers_add_up_to_the_log(story: Story) -> None:
    """R1.3: one row per customer, with the first and last day."""
    mine = [row for row in purchases() if row["customer_id"] == "00004"]
    customers = {row[0]: row for row in story.rows["the last"]["gold.customer_sales"]}
    assert len(customers) == len({row["customer_id"] for row in purchases()})
    assert customers["00004"] == (
        "00004",
        len(mine),
        sum(int(row["quantity"]) for row in mine),
        sum(Decimal(row["amount"]) for row in mine),
        date.fromisoformat(min(row["transaction_date"] for row in mine)),
        date.fromisoformat(max(row["transaction_date"] for row in mine)),
    )


@pytest.mark.core
def test_events_come_out_in_the_known_numbers(story: Story, tmp_path: Path) -> None:
    """R1.2, R1.4: repeats, corrections, stale versions, late rows and errors, as the simulator made them."""
    counts = simulate_user_events(tmp_path)
    rows = story.rows["the last"]
    assert len(rows["silver.user_events"]) == counts.events
    assert len(rows["silver.rejected_user_events"]) == counts.rejected
    by_type = {row[0]: row[3] for row in rows["gold.user_events_by_type"]}
    assert by_type == dict(counts.events_by_type)
    by_day: dict[str, int] = {}
    for day, _, events, _ in rows["gold.daily_user_events"]:
        by_day[str(day)] = by_day.get(str(day), 0) + events
    assert by_day == {str(day): number for day, number in dict(counts.events_by_day).items()}
    unknown = [row for row in rows["silver.user_events"] if row[3] == "unknown"]
    assert len(unknown) == counts.null_device


@pytest.mark.core
def test_rejected_rows_have_a_reason_and_their_line(story: Story) -> None:
    """R1.4: set aside, never lost."""
    rejected = story.lakehouse.table("silver.rejected_user_events").where(SENT_ONCE)
    reasons = {
        row["rejection_reason"]: row["count"]
        for row in rejected.groupBy("rejection_reason").count().collect()
    }
    assert reasons["the line does not fit its header or is not UTF-8"] == 10
    assert reasons["event_id is missing"] == 5
    assert sum(reasons.values()) == 36
    short = rejected.where("_corrupt_record = 'e-002828,u-0224,page_view,2025-01-05T09:35:29Z'").first()
    assert short["raw_record"] == (
        '{"event_id":"e-002828","user_id":"u-0224","event_type":"page_view","event_at":"2025-01-05T09:35:29Z"}'
    )


@pytest.mark.core
def test_nothing_new_commits_nothing(story: Story) -> None:
    """R1.5: the third build leaves every table of bronze, silver and gold at its version."""
    assert story.versions["nothing new"] == story.versions["the last"]


@pytest.mark.core
def test_files_sent_again_under_other_names_and_in_another_order_change_nothing(story: Story) -> None:
    """R1.5: bronze keeps what was sent; silver's and gold's accepted rows do not move."""
    before, after = story.versions["nothing new"], story.versions["sent again"]
    moved = {name for name in before if before[name] != after[name]}
    assert moved == {
        "story_bronze.device_events",
        "story_bronze.inventory_movements",
        "story_bronze.transactions",
        "story_bronze.user_events",
        "story_silver.rejected_user_events",
    }


@pytest.mark.core
def test_explain_says_what_the_next_run_would_do(story: Story) -> None:
    """R1.5: which versions, how many rows and bytes, and why; a model that waits for another says so."""
    plans = {plan.table: plan for plan in story.explained}
    assert sorted(plans) == sorted(f"story_{name}" for name in RESULTS)
    (read,) = plans["story_silver.transactions"].reads
    assert (read.source, read.message, read.rows) == ("story_bronze.transactions", "versions 3..3", 69_659)
    assert read.bytes > 10_000
    assert not plans["story_silver.transactions"].idle
    assert plans["story_gold.daily_sales"].idle
    assert plans["story_gold.daily_sales"].waits_for == ("story_silver.transactions",)


@pytest.mark.core
def test_verify_proves_every_table_and_finds_a_tampered_row(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R1.5: `tidemark verify`: 0 rows differ; one changed cell shows on both sides; nothing is written."""
    monkeypatch.setenv("TIDEMARK_SCHEMA", "story")
    monkeypatch.setenv("TIDEMARK_RAW", str(story.lakehouse.raw))
    spark = story.lakehouse.spark
    before = story.lakehouse.versions()
    verdicts = {verdict.table: verdict for verdict in verify(spark, [])}
    assert sorted(verdicts) == sorted(f"story_{name}" for name in RESULTS)
    assert [verdict for verdict in verdicts.values() if not verdict.holds] == []
    assert verdicts["story_silver.transactions"].rows == 69_659
    assert story.lakehouse.versions() == before

    daily = "story_gold.daily_sales"
    spark.sql(f"update {daily} set quantity = quantity + 1 where sales_date = '1997-01-01'")
    (verdict,) = verify(spark, ["daily_sales"])
    sides = {difference.side: difference.row["quantity"] for difference in verdict.shown}
    assert (verdict.differing, sides["table"] - sides["rebuild"]) == (2, 1)
    spark.sql(f"restore table {daily} to version as of {before[daily]}")


def test_the_commands_by_layer(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    """R1.5: unit tests; at night all tests by layer, and a full refresh, row for row in every model."""
    monkeypatch.setenv("TIDEMARK_SCHEMA", "story")
    monkeypatch.setenv("TIDEMARK_RAW", str(story.lakehouse.raw))
    if not is_night("full refresh"):  # `verify` above computes it each time
        invoke_dbt(["--quiet", "test", "--select", "test_type:unit"])
        return
    invoke_dbt(["--quiet", "run", "--select", "silver", "--full-refresh"])
    invoke_dbt(["--quiet", "run", "--select", "gold", "--full-refresh"])
    assert {name: story.lakehouse.rows(name) for name in RESULTS} == story.rows["sent again"]
    for layer in ("bronze", "silver", "gold"):
        invoke_dbt(["--quiet", "test", "--select", layer])
    invoke_dbt(["--quiet", "source", "freshness"])
    invoke_dbt(["--quiet", "docs", "generate"])
