"""Landed rows that bronze lost: noticed by its commits, counted, landed again or accepted, as is declared."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pyspark.sql import SparkSession

from python_ingest.bronze.history import Doubt
from python_ingest.bronze.lost_rows import LostRows
from python_ingest.bronze.table import BronzeTable
from python_ingest.files.landing import Lander
from python_ingest.ops.bronze_checks import BronzeChecks
from python_ingest.ops.ingested_files import IngestedFiles
from tests.conftest import ROOT, FeedFolder, MakeFeed, latest_version, take_back
from tests.night import nightly
from tidemark.base.errors import LandingError
from tidemark.operate.status.feeds import feed_states
from tidemark.project_with_feeds import ProjectWithFeeds

pytestmark = pytest.mark.R1

ONE, TWO, THREE = "id,name\n1,Ada\n2,Bob\n", "id,name\n3,Cy\n", "id,name\n4,Di\n"
LANDED = [("1", "it's 1.csv", 1), ("2", "it's 1.csv", 1), ("3", "two.csv", 1), ("4", "three.csv", 2)]


def _land_three(people: FeedFolder) -> None:
    """Land a batch of two files, and a batch of one."""
    people.write("it's 1.csv", ONE)
    people.write("two.csv", TWO)
    people.land()
    people.write("three.csv", THREE)
    people.land()


def _rows(people: FeedFolder) -> list[tuple[Any, ...]]:
    return people.rows("id", "_source_file", "_batch_id")


def _doubt(people: FeedFolder) -> str:
    """What `tidemark status` says of bronze."""
    project = ProjectWithFeeds(ROOT, people.ops_schema, feeds={"people": people.feed})
    return feed_states(people.spark, project)[0].problem


def _decisions(people: FeedFolder) -> list[tuple[Any, ...]]:
    checks = people.spark.table(f"{people.ops_schema}.bronze_checks").orderBy("_sequence")
    return [tuple(row) for row in checks.selectExpr("decision", "to_json(lost)").collect()]


def _jobs(spark: SparkSession, group: str) -> int:
    return len(spark.sparkContext.statusTracker().getJobIdsForGroup(group))


@pytest.mark.formats(day="delta", night="delta iceberg", core="delta")
def test_the_landing_stops_where_landed_rows_are_gone(make_feed: MakeFeed) -> None:
    """R1.5: deleted rows or a restored version: files and cause are named; a restore resumes the landing."""
    people = make_feed()
    _land_three(people)
    full = people.version()
    people.spark.sql(f"delete from {people.feed.table} where id = '2'")
    people.write("four.csv", "id,name\n5,Eve\n")
    assert f" at version {people.version()}); `tidemark land` checks them" in _doubt(people)
    with pytest.raises(LandingError) as stopped:
        people.land()
    assert f"{people.feed.table} is missing 1 landed row, from it's 1.csv (" in stopped.value.what
    assert " at version " in stopped.value.what
    assert f"{full}" in stopped.value.fix, "the version to restore"
    assert "`land_again` (reads their files again) or `accept`" in stopped.value.fix
    assert people.states()[-1][0] == "three.csv", "nothing landed"

    take_back(people.spark, people.feed.table, full)
    assert people.land().files == 1
    assert _rows(people) == [*LANDED, ("5", "four.csv", 3)]
    assert people.land().settled is None

    take_back(people.spark, people.feed.table, full)
    with pytest.raises(LandingError, match=r"is missing 1 landed row, from four\.csv \("):
        people.land()


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_lost_files_land_again_each_row_once(make_feed: MakeFeed) -> None:
    """R1.5: under their own batches; what was left of a file does not double; the next landing is quiet."""
    people = make_feed(on_lost_rows="land_again")
    _land_three(people)
    before = people.rows("id", "name", "_source_file", "_batch_id", "_ingested_at", "_corrupt_record")
    people.spark.sql(f"delete from {people.feed.table} where id in ('2', '4')")
    settled = people.land().settled
    assert settled
    assert [(lost.path, lost.batch_id, lost.landed, lost.found) for lost in settled.lost] == [
        ("it's 1.csv", 1, 2, 1),
        ("three.csv", 2, 1, 0),
    ]
    assert f"{people.feed.table} is missing 2 landed rows, from it's 1.csv, three.csv (" in settled.message
    assert settled.message.endswith(": landed again")
    assert people.rows("id", "name", "_source_file", "_batch_id", "_ingested_at", "_corrupt_record") == before
    assert len(set(people.rows("_batch_id", "_row_number"))) == 4
    version = people.version()
    again = people.land()
    assert (again.settled, again.known, people.version()) == (None, 3, version)

    for number in range(12):
        people.write(f"more {number:02}.csv", f"id,name\n{number:02},Eve\n")
    people.land()
    before = _rows(people)
    people.spark.sql(f"drop table {people.feed.table}")
    people.write("four.csv", "id,name\n5,Eve\n")
    outcome = people.land()
    assert outcome.settled
    assert "from it's 1.csv, two.csv, three.csv and 12 others (" in outcome.settled.message
    assert (outcome.files, _rows(people)) == (1, sorted([*before, ("5", "four.csv", 4)], key=str))
    assert people.land().settled is None


def test_a_table_created_anew_is_noticed(make_feed: MakeFeed) -> None:
    """R1.5: replaced in place, or dropped; the files that are as they were land, the others are named."""
    people = make_feed()
    _land_three(people)
    table = people.feed.table
    schema = ", ".join(
        f"{field.name} {field.dataType.simpleString()}" for field in people.spark.table(table).schema
    )
    people.spark.sql(f"create or replace table {table} ({schema}) using delta")
    with pytest.raises(
        LandingError, match=r"is missing 4 landed rows, from it's 1\.csv, two\.csv, three\.csv \(CREATE OR"
    ):
        people.land()
    people.spark.sql(f"drop table {table}")
    people.spark.sql(f"create table {table} (id string, name string) using delta")
    with pytest.raises(
        LandingError, match=r"4 landed rows, .* \(the table was recreated .*\).*\n.* a copy of the"
    ):
        people.land()

    (people.folder / "two.csv").unlink()
    people.write("three.csv", "id,name\n4,Other bytes\n")
    again = make_feed(on_lost_rows="land_again")
    with pytest.raises(
        LandingError, match=r"is missing 2 landed rows, from two\.csv, three\.csv .* cannot be landed again"
    ):
        again.land()
    accepting = make_feed(on_lost_rows="accept")
    assert accepting.land().files == 1, "the changed file is new"
    assert accepting.rows("id", "name", "_batch_id") == [
        ("1", "Ada", 1),
        ("2", "Bob", 1),
        ("4", "Other bytes", 3),
    ]
    assert make_feed().land().settled is None


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_an_accepted_loss_covers_only_its_rows(make_feed: MakeFeed) -> None:
    """R1.5: reported once; the next landing does not stop, and rows lost later are reported, too."""
    people = make_feed(on_lost_rows="accept")
    _land_three(people)
    people.spark.sql(f"delete from {people.feed.table} where id = '1'")
    settled = people.land().settled
    assert settled
    assert settled.message.endswith("accepted (`on_lost_rows: accept`)")
    strict = make_feed()
    assert strict.land().settled is None
    people.spark.sql(f"delete from {people.feed.table} where id = '3'")
    with pytest.raises(LandingError, match=r"is missing 1 landed row, from two\.csv \("):
        strict.land()
    people.land()
    assert strict.land().settled is None
    assert [(decision, json.loads(lost)) for decision, lost in _decisions(people)] == [
        ("accepted", [{"path": "it's 1.csv", "batch_id": 1, "landed": 2, "found": 1}]),
        ("accepted", [{"path": "two.csv", "batch_id": 1, "landed": 1, "found": 0}]),
    ]


@pytest.mark.formats(day="delta", night="delta iceberg", core="delta")
def test_commits_that_keep_rows_raise_no_doubt(make_feed: MakeFeed, spark: SparkSession) -> None:
    """R1.5: columns, properties, compaction, rows added; and to know that takes no Spark job."""
    people = make_feed()
    _land_three(people)
    table, is_delta = people.feed.table, spark.conf.get("spark.sql.sources.default") == "delta"
    compact = f"optimize {table}" if is_delta else f"call lakehouse.system.rewrite_data_files('{table}')"
    for statement in (
        f"alter table {table} add columns (more string)",
        f"alter table {table} set tblproperties ('mine' = '1')",
        f"insert into {table} select * from {table} where id = '3'",
        f"delete from {table} where id = 'none'",
        compact,
    ):
        spark.sql(statement)
    manifest = IngestedFiles(spark, people.ops_schema, "people")
    assert manifest.landed_batch, "a landing knows it by then, since it has compared its listing"
    checks = BronzeChecks(spark, people.ops_schema, "people")
    lost = LostRows(spark, people.feed, BronzeTable(spark, people.feed), manifest, checks)
    spark.sparkContext.setJobGroup(f"asked {table}", "")
    assert lost.doubt() is None
    assert _jobs(spark, f"asked {table}") == 0
    spark.sparkContext.setJobGroup(f"counted {table}", "")
    assert lost.settle(Doubt("a test")).decision == "complete"
    assert _jobs(spark, f"counted {table}") > 0
    spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)


def test_a_cleaned_log_is_counted_once(people: FeedFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """R1.5: many commits since the last batch: no row is missing, and the next landing knows this."""
    people.write("one.csv", ONE)
    people.land()
    for number in range(3):
        people.spark.sql(f"alter table {people.feed.table} set tblproperties ('mine' = '{number}')")
    monkeypatch.setattr("python_ingest.bronze.history.LOOKED_AT", 3)
    assert "its log no longer has the commit of batch 1" in _doubt(people)
    settled = people.land().settled
    assert settled
    assert settled.message.endswith("; all landed rows are still there")
    assert people.land().settled is None
    people.spark.sql(f"update {people.feed.table} set name = 'x' where id = '1'")
    assert f"UPDATE at version {people.version()}" in _doubt(people)
    assert people.land().settled
    assert _doubt(people) == ""


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_replayed_records_and_older_versions_of_a_file_are_counted(make_feed: MakeFeed) -> None:
    """R1.5: a replayed record comes back under its batch; what a file held before it changed cannot."""
    people = make_feed(on_lost_rows="land_again")
    people.write("a.csv", "id,name\n1,Ada\n2,Bob,more\n")
    people.land()
    rejected = f"{people.ops_schema}.rejected_records"
    people.spark.sql(f"update {rejected} set raw_record = '2,Bob'")
    Lander(people.spark, people.feed, people.ops_schema).replay()
    before = people.rows("id", "_corrupt_record", "_batch_id")
    assert before == [("1", None, 1), ("2", "2,Bob,more", 1), ("2", None, 2)]
    people.spark.sql(f"truncate table {people.feed.table}")
    assert people.land().settled
    assert people.rows("id", "_corrupt_record", "_batch_id") == before
    assert people.spark.table(rejected).count() == 1, "a broken record is kept once"

    people.write("a.csv", "id,name\n7,Other\n")
    assert people.land().files == 1
    people.spark.sql(f"delete from {people.feed.table} where id in ('1', '7')")
    with pytest.raises(LandingError, match=r"missing 1 landed row, from a\.csv \(.*cannot be landed again"):
        people.land()
    assert people.rows("id", "_batch_id") == [("2", 1), ("2", 2), ("7", 3)]


@pytest.mark.parametrize(("statement", "reason"), [
    ("restore table {} to version as of 1", "bronze was changed: RESTORE"),
    pytest.param("delete from {} where id = '3'", "bronze was changed: DELETE", marks=nightly("lost rows")),
])  # fmt: skip
def test_a_batch_that_was_not_confirmed_is_planned_anew(
    people: FeedFolder, monkeypatch: pytest.MonkeyPatch, statement: str, reason: str
) -> None:
    """R1.5: appended, not confirmed, then taken away, in part or whole: Delta would skip its number."""
    people.write("one.csv", ONE)
    people.land()
    people.write("two.csv", "id,name\n3,Cy\n4,Di\n")
    _killed_before_confirming(people, monkeypatch)
    people.spark.sql(statement.format(people.feed.table))
    assert people.land().files == 1
    assert people.rows("id", "_batch_id") == [("1", 1), ("2", 1), ("3", 3), ("4", 3)]
    reasons = people.spark.table(f"{people.ops_schema}.ingested_files").where("state = 'abandoned'")
    assert [row["reason"].startswith(reason) for row in reasons.collect()] == [True]


@nightly("lost rows")
def test_a_landing_that_stops_takes_nothing_back(people: FeedFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """R1.5: the table may be restored with the batch that was not confirmed: it lands once."""
    people.write("one.csv", ONE)
    people.land()
    people.write("two.csv", "id,name\n3,Cy\n")
    _killed_before_confirming(people, monkeypatch)
    before = latest_version(people.spark, people.feed.table)
    people.spark.sql(f"delete from {people.feed.table} where id in ('1', '3')")
    with pytest.raises(LandingError, match="missing 1 landed row"):
        people.land()
    take_back(people.spark, people.feed.table, before)
    people.land()
    assert [row[0] for row in people.rows("id")] == ["1", "2", "3"]


def test_the_first_batch_taken_away_before_it_was_confirmed(
    people: FeedFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R1.5: no batch has landed yet, so no row is missed; the files are planned anew all the same."""
    people.write("one.csv", ONE)
    _killed_before_confirming(people, monkeypatch)
    take_back(people.spark, people.feed.table, 0)
    assert people.land().files == 1
    assert people.rows("id", "_batch_id") == [("1", 2), ("2", 2)]


def _killed_before_confirming(people: FeedFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(IngestedFiles, "confirm", killed)
        with pytest.raises(KeyboardInterrupt):
            people.land()


@nightly("lost rows")
def test_a_killed_relanding_is_resumed(make_feed: MakeFeed, monkeypatch: pytest.MonkeyPatch) -> None:
    """R1.5: killed between two batches, or before the check is recorded: the next landing does the rest."""
    people = make_feed(on_lost_rows="land_again")
    _land_three(people)
    people.spark.sql(f"delete from {people.feed.table} where id in ('1', '4')")
    replace = BronzeTable.replace

    def killed(bronze: BronzeTable, *arguments: Any) -> None:
        replace(bronze, *arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(BronzeTable, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            people.land()
    assert len(_rows(people)) == 3
    people.land()
    assert _rows(people) == LANDED
