"""The numbers of `tidemark report` are those of the state tables, and of the tables themselves."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.conftest import ROOT, FeedFolder
from tests.lakehouse.conftest import FixtureProject
from tidemark.base.output import output
from tidemark.cli.report import report as write_report
from tidemark.operate.report.balance import balances, total
from tidemark.operate.report.facts import OUTCOMES, Report
from tidemark.operate.report.page import page_of
from tidemark.operate.report.reading import read_report
from tidemark.project_with_feeds import ProjectWithFeeds

pytestmark = pytest.mark.R2
LOSSY = ("build", "--select", "lossy", "rejected_lossy")


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_the_report_equals_the_state_tables(
    cases: FixtureProject, people: FeedFolder, tmp_path: Path
) -> None:
    """R2.1: landed, read, accounted for, set aside, failed: each number by another query."""
    people.write("a.csv", "id,name\n1,Ann\n2,Bob,more\n3,Cid\n")
    people.write("</script>.csv", "id\n1\n")
    people.land()
    people.write("b.csv", "id,name\n4,Dan\n")
    people.land()
    source = cases.create_source("readings_in", "id int, name string, unit string")
    cases.spark.sql(f"insert into {source} values (1, 'a', 'kg'), (1, 'b', 'kg'), (2, null, 'kg')")
    assert cases.dbt(*LOSSY).failed == []
    cases.spark.sql(f"insert into {source} values (1, 'c', 'kg'), (5, 'e', null)")
    assert cases.dbt(*LOSSY).failed != []
    cases.spark.sql(f"insert into {source} values (6, 'f', 'kg'), (7, null, 'kg')")
    cases.messages("lossy")

    report = reported(cases, people, tmp_path)
    ops = f"{cases.prefix}_ops"
    sql = Values(cases.spark)
    landed = f"from {ops}.ingested_files where state = 'landed'"
    assert total(balances(report)).landed == sql(f"sum(row_count) {landed}") == 4
    assert sum(one.files for one in report.landings) == sql(f"count(*) {landed}") == 2
    [feed] = report.feeds
    assert feed.rows == 4
    assert feed.lateness is not None
    late = "unix_micros(recorded_at) - unix_micros(modified_at)"
    assert feed.lateness.most == sql(f"max({late}) / 1000000 {landed}")
    assert feed.lateness.landings == 2

    sums = total(balances(report))
    lossy = f"from {ops}.model_runs where model = '{cases.table('lossy')}'"
    assert sums.read == sql(f"sum(rows_read) {lossy}") == 7
    for name in OUTCOMES:
        assert sums.silver[name] == sql(f"coalesce(sum(rows_{name}), 0) {lossy}")
    assert sums.silver["not accounted for"] == 1, "a row without a unit"
    assert sums.silver["not compared"] == 1, "rejected_lossy has not read it"
    assert sums.read == sum(sums.silver.values())
    assert sum(sums.gold.values()) == 0, "rejected_lossy counts as the rejected rows of lossy"
    assert sum(one.seconds for one in report.model_periods) == pytest.approx(
        sql(f"sum(seconds) from {ops}.model_runs")
    )
    assert [run.succeeded for run in report.runs] == [True, False, True]
    assert report.run_count == sql(f"count(*) from {ops}.runs")

    aside = {(one.kind, one.number) for one in report.rejections}
    assert aside == {("file", 1), ("record", 1)}
    assert sql(f"count(*) from {ops}.rejected_records") == 1
    sizes = {one.table: one for one in report.sizes}
    names = f"(select input_file_name() as name from {people.feed.table})"
    assert sizes[people.feed.table].files == sql(f"count(distinct name) from {names}") == 2
    assert sizes[source].bytes > 0
    page = page_of(report)
    data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    assert data["rejections"] == [one.__dict__ for one in report.rejections]
    assert "&lt;/script&gt;.csv" in page


def test_the_page_of_a_new_lake_has_no_data(
    spark: SparkSession, prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R2.1: no state table exists; the command names the feeds that never landed."""
    monkeypatch.setenv("TIDEMARK_SCHEMA", prefix)
    page = tmp_path / "site" / "report.html"
    with output.console.capture() as printed:
        write_report(page, days=7)
    assert "This lake is empty" in page.read_text(encoding="utf-8")
    assert "The feed transactions has never landed." in printed.get()


def reported(cases: FixtureProject, people: FeedFolder, folder: Path) -> Report:
    """Read a report of the lake as the command does."""
    manifest = cases.manifest()
    tables = [people.feed.table, f"{cases.prefix}_bronze.readings_in"]
    tables += [cases.table("lossy"), cases.table("rejected_lossy"), cases.table("never_built")]
    lake = ProjectWithFeeds(
        ROOT, f"{cases.prefix}_ops", tuple(tables), manifest, feeds={people.feed.name: people.feed}
    )
    return read_report(cases.spark, lake, folder / "report.html", 30)


class Values:
    """Asks for single values."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def __call__(self, query: str) -> Any:
        rows: Sequence[Any] = self._spark.sql(f"select {query}").collect()
        return rows[0][0]
