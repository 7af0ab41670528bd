"""What a model reads: versions, checkpoints, and each state by its name. Never a silent gap."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest
from pyspark.errors import IllegalArgumentException

from benchmarks.measuring import timed_statements
from tests.conftest import latest_version, take_back
from tests.lakehouse.conftest import FixtureProject, Guarded
from tests.night import nightly
from tidemark.lake.jvm import java_class
from tidemark.lake.table_format import location_of
from tidemark.maintain.maintenance import expire

pytestmark = [pytest.mark.R1, pytest.mark.R2]


@pytest.mark.core
@pytest.mark.R4
@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_exactly_the_rows_of_the_new_versions_are_read(guarded: Guarded, table_format: str) -> None:
    """R4.2: consumed up to one version: what the next added is read, and the checkpoint is that one."""
    guarded.insert("(1, 5), (2, 5)")
    guarded.insert("(3, 5)")
    second = latest_version(guarded.spark, guarded.input)
    guarded.dbt("run", "--select", "guarded")
    assert (guarded.checkpoint("guarded").version, guarded.last_run("guarded").state) == (second, "first run")
    guarded.insert("(4, 5), (5, 5), (6, -1)")
    assert guarded.dbt("run", "--select", "guarded").failed != []
    assert guarded.checkpoint("guarded").version == second, "a failed run moves no mark"
    take_back(guarded.spark, guarded.input, second)
    guarded.insert("(4, 5)")
    guarded.dbt("run", "--select", "guarded")
    before = latest_version(guarded.spark, guarded.input)
    assert guarded.checkpoint("guarded").version == before
    guarded.insert("(5, 5), (6, 5)")
    last = latest_version(guarded.spark, guarded.input)
    guarded.dbt("run", "--select", "guarded")
    run = guarded.last_run("guarded")
    assert (run.state, run.rows_read, run.rows_inserted) == ("incremental", 2, 2)
    span = {"delta": f"{last}..{last}", "iceberg": f"after {before} up to {last}"}[table_format]
    assert run.reads == [f"{guarded.input} versions {span}"]
    assert guarded.checkpoint("guarded").version == last
    records = guarded.spark.table(f"{guarded.prefix}_ops.model_runs").count()
    guarded.dbt("run", "--select", "guarded")
    assert guarded.spark.table(f"{guarded.prefix}_ops.model_runs").count() == records, (
        "nothing new leaves no record"
    )
    assert guarded.checkpoint("guarded").version == last


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_changes_are_read_once_for_all_that_read_them(
    guarded: Guarded, tmp_path: Path, table_format: str
) -> None:
    """R2.2: models that read one table share its changes, with previous rows only for those that need them.

    A single reader reads them itself.
    """
    models = guarded.own_copy(tmp_path)
    (models / "more.sql").write_text((models / "totals.sql").read_text())
    (models / "copied.sql").write_text(
        "{{ config(unique_key='id') }} select id, amount from {{ changes(ref('guarded')) }}"
    )
    guarded.insert("(1, 5), (2, 7)")
    guarded.messages("guarded", "totals", "more", "copied")
    feed = {"delta": "table_changes('{}'", "iceberg": "{}.changes"}[table_format]
    feed = feed.format(guarded.table("guarded"))
    for readers, inserted in ((("totals", "more", "copied"), "(2, 5)"), (("totals",), "(3, 5)")):
        guarded.insert(inserted)
        with timed_statements() as statements:
            guarded.messages("guarded", *readers)
        shared = [s.sql for s in statements if "tidemark_changes_" in s.sql]
        reading = [s.sql for s in statements if feed in s.sql]
        assert bool(shared) == (len(readers) > 1)
        assert len(reading) == 1 or len(readers) == 1, "the changes are read once for all their readers"
        views = set(re.findall(r"\btidemark_changes_\w+", " ".join(shared)))
        assert [view for view in views if guarded.spark.catalog.tableExists(view)] == []
    assert guarded.rows("copied") == [(1, 5), (2, 5)]
    assert guarded.rows("more") == [(5, 2)]
    assert guarded.rows("totals") == [(5, 3)]


def test_a_model_that_fails_keeps_nothing(guarded: Guarded) -> None:
    """R2.1: the views of its batch are dropped at the end of the command."""
    guarded.insert("(1, 5)")
    guarded.messages("guarded")
    guarded.insert("(2, -1)")
    assert guarded.dbt("run", "--select", "guarded").failed != []
    views = [view.viewName for view in guarded.spark.sql("show views").collect() if view.isTemporary]
    assert [view for view in views if guarded.prefix in view] == []


def test_a_full_refresh_sets_the_mark_anew_and_a_new_model_catches_up_alone(guarded: Guarded) -> None:
    """R2.1: both read what there is; the others' checkpoints stay."""
    guarded.insert("(1, 5)")
    guarded.dbt("run", "--select", "guarded")
    guarded.insert("(2, 6)")
    guarded.dbt("run", "--select", "guarded", "--full-refresh")
    assert (guarded.checkpoint("guarded").version, guarded.last_run("guarded").state) == (2, "full refresh")
    guarded.insert("(3, 6)")
    guarded.dbt("run")
    assert guarded.last_run("totals").state == "first run"
    assert guarded.last_run("guarded").state == "incremental"
    assert guarded.rows("totals") == [(5, 1), (6, 2)]


def test_vacuumed_past_what_was_read(guarded: Guarded) -> None:
    """R1.5: change files are gone: read whole, with the reason in the record."""
    guarded.insert("(1, 5)")
    guarded.dbt("run", "--select", "guarded")
    guarded.insert("(2, 5)")
    guarded.insert("(3, 5)")
    guarded.spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    guarded.spark.sql(f"vacuum {guarded.input} retain 0 hours")
    guarded.spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "true")
    assert "was vacuumed at version" in guarded.messages("guarded")["guarded"]
    run = guarded.last_run("guarded")
    assert run.state == "history lost"
    assert re.search("vacuumed at version 4", run.reads[0])
    assert guarded.rows("guarded") == [(1, 5), (2, 5), (3, 5)]
    guarded.insert("(4, 5)")
    assert guarded.messages("guarded") == {"guarded": "1 inserted"}


@nightly("states")
def test_versions_not_read_for_weeks_are_kept(guarded: Guarded) -> None:
    """R2.1: a VACUUM by hand keeps it for 35 days; without one it is read incrementally at any age."""
    guarded.insert("(1, 5), (2, 5)")
    guarded.messages("guarded", "totals")
    guarded.insert("(1, 6)")
    guarded.messages("guarded")
    _age(guarded, guarded.table("guarded"), 20)
    for retained in ("", "retain 168 hours"):
        guarded.spark.sql(f"vacuum {guarded.table('guarded')} {retained}")
    with pytest.raises(IllegalArgumentException, match=r"at least 840 hours"):
        guarded.spark.sql(f"vacuum {guarded.table('guarded')} retain 0 hours")
    assert guarded.messages("totals") == {"totals": "1 inserted, 1 updated"}
    guarded.insert("(2, 6)")
    guarded.messages("guarded")
    _age(guarded, guarded.table("guarded"), 40)
    guarded.insert("(3, 6)")
    guarded.messages("guarded")
    assert guarded.messages("totals") == {"totals": "1 updated, 1 deleted"}
    assert guarded.last_run("totals").state == "incremental"
    assert guarded.rows("totals") == [(6, 3)]
    _age(guarded, guarded.table("guarded"), 20)
    for hours, deletes in ((30 * 24, False), (24, True)):
        table = guarded.table("guarded")
        deleted, unread = expire(guarded.spark, table, hours, guarded.readers(table))
        assert (deleted > 0, unread) == (deletes, []), "exactly the hours that it was told"


def _age(guarded: Guarded, table: str, days: int) -> None:
    """Let the files and commits that a table has by now be some days old."""
    folder = Path(location_of(guarded.spark, table).removeprefix("file:"))
    for file in (path for path in folder.rglob("*") if path.is_file()):
        number = file.name.lstrip(".").partition(".")[0]
        at = time.time() - days * 86_400 + (int(number) if number.isdigit() else 0)  # commits in their order
        os.utime(file, (at, at))
    java_class(guarded.spark, "org.apache.spark.sql.delta.DeltaLog").clearCache()


@nightly("states")
@pytest.mark.R3
def test_a_column_got_a_wider_type(guarded: Guarded) -> None:
    """R3.4: Delta cannot give changes across it: read whole once, with the reason in the record."""
    guarded.insert("(1, 5)")
    guarded.dbt("run", "--select", "guarded")
    table = f"alter table {guarded.input}"
    guarded.spark.sql(f"{table} set tblproperties ('delta.enableTypeWidening' = 'true')")
    guarded.spark.sql(f"{table} alter column sent type bigint")
    guarded.insert("(2, 5)")
    assert "were changed at version 3 (CHANGE COLUMN)" in guarded.messages("guarded")["guarded"]
    guarded.spark.sql(f"{table} add columns (more string)")
    guarded.spark.sql(f"insert into {guarded.input} values (3, 5, 9, 'x')")
    assert guarded.messages("guarded") == {"guarded": "1 inserted"}, "a new column rebuilds nothing"
    assert guarded.rows("guarded") == [(1, 5), (2, 5), (3, 5)]


@nightly("states")
def test_a_feed_switched_off_and_on_again(guarded: Guarded) -> None:
    """R1.5: no feed, no changes: read whole; and once more when it is on again, for what came meanwhile."""
    guarded.insert("(1, 5)")
    guarded.dbt("run", "--select", "guarded")
    feed = f"alter table {guarded.input} set tblproperties ('delta.enableChangeDataFeed' = '{{}}')"
    guarded.spark.sql(feed.format("false"))
    guarded.insert("(2, 5)")
    assert "has no change data feed" in guarded.messages("guarded")["guarded"]
    guarded.insert("(3, 5)")
    guarded.spark.sql(feed.format("true"))
    guarded.insert("(4, 5)")
    assert "was enabled at version" in guarded.messages("guarded")["guarded"]
    assert guarded.rows("guarded") == [(1, 5), (2, 5), (3, 5), (4, 5)]


@nightly("states")
def test_a_source_with_a_cleaned_log_is_read_in_full(guarded: Guarded) -> None:
    """R1.5: Delta cleans its log after its retention: read whole."""
    guarded.spark.sql(f"alter table {guarded.input} set tblproperties ('delta.checkpointInterval' = '1')")
    guarded.insert("(1, 5)")
    guarded.dbt("run", "--select", "guarded")
    guarded.insert("(2, 5)")
    guarded.insert("(3, 5)")
    location = guarded.spark.sql(f"describe detail {guarded.input}").first()
    assert location is not None
    log = Path(location["location"].removeprefix("file:").replace("%20", " ")) / "_delta_log"
    for version in range(4):
        (log / f"{version:020}.json").unlink()
        (log / f".{version:020}.json.crc").unlink(missing_ok=True)
    assert "no longer has version 3" in guarded.messages("guarded")["guarded"]
    assert guarded.rows("guarded") == [(1, 5), (2, 5), (3, 5)]


@pytest.mark.formats(day="iceberg", night="delta iceberg")
@pytest.mark.core
def test_a_watermark_filter_reads_sources_that_have_no_versions(cases: FixtureProject) -> None:
    """R2.1, R2.4: ties, late rows within the lookback, rows without a time; the mark moves on only."""
    source = f"{cases.prefix}_bronze.plain_in"
    cases.spark.sql(f"create table {source} (id int, value string, updated_at timestamp) using parquet")

    def send(*rows: str) -> str:
        cases.spark.sql(f"insert into {source} values {', '.join(rows)}")
        return cases.messages("by_watermark")["by_watermark"]

    assert (
        send("(1, 'a', timestamp '2025-01-10 00:00')", "(2, 'a', timestamp '2025-01-09 00:00')")
        == "2 inserted"
    )
    assert cases.checkpoint("by_watermark").watermark == "2025-01-10 00:00:00"
    tied, late = "(3, 'tied', timestamp '2025-01-10 00:00')", "(2, 'late', timestamp '2025-01-09 12:00')"
    assert send(tied, late, "(4, 'timeless', null)") == "2 inserted, 1 updated"
    assert send("(5, 'too late', timestamp '2025-01-01 00:00')") == "no change"
    assert cases.checkpoint("by_watermark").watermark == "2025-01-10 00:00:00"
    assert send("(1, 'b', timestamp '2025-01-11 00:00')") == "1 updated"
    assert cases.checkpoint("by_watermark").watermark == "2025-01-11 00:00:00"
    cases.spark.sql(f"truncate table {source}")
    assert send("(1, 'older', timestamp '2025-01-10 12:00')") == "no change"
    assert cases.checkpoint("by_watermark").watermark == "2025-01-11 00:00:00", "a mark never moves back"
    cases.messages("by_watermark", options=("--full-refresh",))
    assert cases.checkpoint("by_watermark").watermark == "2025-01-10 12:00:00"
    assert len(cases.rows("by_watermark")) == 1


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_a_source_that_was_empty_at_first(cases: FixtureProject) -> None:
    """R2.1: no mark yet is a mark too: the next run reads what came; only a column new to it stops."""
    source = f"{cases.prefix}_bronze.plain_in"
    cases.spark.sql(f"create table {source} (id int, value string, updated_at timestamp) using parquet")
    cases.messages("by_watermark")
    assert cases.checkpoint("by_watermark").watermark is None
    cases.spark.sql(f"insert into {source} values (1, 'a', timestamp '2025-01-10 00:00')")
    assert cases.messages("by_watermark") == {"by_watermark": "1 inserted"}
    assert cases.checkpoint("by_watermark").watermark == "2025-01-10 00:00:00"
