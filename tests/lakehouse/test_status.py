"""`tidemark status`: what it says of feeds, tables and the last run, and how a monitor reads it."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from pyspark.sql import SparkSession

from tests.conftest import ROOT, FeedFolder
from tests.lakehouse.conftest import Guarded
from tidemark.base.clock import utc_now
from tidemark.cli.status import EXIT_CODES, choices_text, show_status
from tidemark.engine.decision.costs import Choices
from tidemark.engine.verify.proofs import Share
from tidemark.operate.status.feeds import FeedStatus, feed_states
from tidemark.operate.status.freshness import Limits
from tidemark.operate.status.lake import LakeStatus
from tidemark.operate.status.level import Level
from tidemark.operate.status.metrics import write_metrics
from tidemark.operate.status.tables import TableStatus, table_states
from tidemark.project_with_feeds import ProjectWithFeeds

pytestmark = [pytest.mark.R4, pytest.mark.formats(day="iceberg", night="delta iceberg")]
DAY = timedelta(days=1)


def _feed(people: FeedFolder) -> FeedStatus:
    project = ProjectWithFeeds(ROOT, people.ops_schema, feeds={"people": people.feed})
    (state,) = feed_states(people.spark, project)
    return state


def _tables(guarded: Guarded, **clock: Any) -> dict[str, TableStatus]:
    states = table_states(guarded.spark, _project(guarded), **clock)
    return {state.table.removeprefix(f"{guarded.prefix}_silver."): state for state in states}


def _project(guarded: Guarded) -> ProjectWithFeeds:
    return ProjectWithFeeds(ROOT, f"{guarded.prefix}_ops", manifest=guarded.manifest())


def test_a_feed_shows_what_landed_and_what_was_set_aside(people: FeedFolder) -> None:
    """R4.1: rows, broken records, files set aside, and the time of the newest file."""
    assert (_feed(people).rows, _feed(people).landed_at, _feed(people).level) == (0, None, Level.OK)
    file = people.write("a.csv", "id,name\n1,Ada\n2,Bob,too many\n")
    people.write("b.csv", "nothing,that,fits\n1,2,3\n")
    people.write("C.CSV", "id,name\n3,Cy\n")
    people.write("README.md", "documents are not named")
    people.land()
    state = _feed(people)
    assert (state.rows, state.rejected_records, state.rejected_files) == (2, 1, 1)
    assert state.last_processed_at is not None
    assert state.last_processed_at.timestamp() == pytest.approx(file.stat().st_mtime, abs=0.01)
    assert state.left_out
    assert (state.left_out.files, state.left_out.paths) == (1, ("C.CSV",))
    left_out = "1 file matches no pattern: C.CSV (set `pattern`, or `exclude` to leave them out on purpose)"
    assert (state.level, state.problem) == (Level.WARNING, f"1 file set aside; {left_out}")


def test_limits_are_those_of_the_declaration() -> None:
    """A feed that never landed warns only if it has a limit."""
    limits = Limits(warn_after=DAY, error_after=2 * DAY)
    assert [limits.level(age) for age in (None, DAY / 2, 1.5 * DAY, 3 * DAY)] == [1, 0, 1, 2]
    assert [Limits().level(age) for age in (None, 99 * DAY)] == [0, 0]


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_a_table_shows_what_it_has_not_read(guarded: Guarded) -> None:
    """R4.2: in versions and in seconds; a run reads them, and a failed run is an error."""
    assert {state.problem for state in _tables(guarded).values()} == {"not built yet"}
    guarded.insert("(1, 5), (2, 5)")
    assert guarded.dbt("run").failed == []
    state = _tables(guarded)["guarded"]
    assert (state.rows_written, state.versions_behind, state.seconds_behind) == (2, 0, None)
    assert state.files > 0 < state.bytes
    guarded.insert("(3, 6)")
    guarded.insert("(4, -1)")
    state = _tables(guarded, clock=lambda: utc_now() + DAY)["guarded"]
    assert (state.versions_behind, state.level) == (2, Level.OK)
    assert state.seconds_behind is not None
    assert 0 < state.seconds_behind - DAY.total_seconds() < DAY.total_seconds()
    assert guarded.run("guarded") != ""
    state = _tables(guarded)["guarded"]
    assert (state.versions_behind, state.rows_written, state.level) == (2, None, Level.ERROR)
    assert state.problem.startswith("the last run failed: ")


def test_how_many_runs_took_the_cheaper_way_is_said_in_words() -> None:
    """R4.1: with the models whose runs were dearer most often."""
    assert choices_text(Choices(1, 1)) == "cheaper way: 1 of the 1 newest run that can be compared"
    found = choices_text(Choices(40, 36, {"gold.b": 1, "gold.c": 1, "gold.a": 2}))
    assert found.startswith(
        "cheaper way: 36 of the 40 newest runs that can be compared; dearer: gold.a, gold.b"
    )


def test_metrics_say_what_was_proved_of_late(tmp_path: Path) -> None:
    """R4.1: the slices of each table, the share of the rows, and the tables of which rows differ."""
    share = Share({"gold.a": 99, "gold.b": 0}, 990, 1000, ["gold.b"])
    write_metrics(tmp_path / "tidemark.prom", LakeStatus([], [], None, Choices(), share, Level.ERROR))
    families = text_string_to_metric_families((tmp_path / "tidemark.prom").read_text())
    found = {(one.name, *one.labels.values()): one.value for family in families for one in family.samples}
    assert found["tidemark_table_proved_slices", "gold.a"] == 99
    assert found["tidemark_proved_rows_percent",] == 99.0
    assert [found["tidemark_table_differs", table] for table in share.slices] == [0, 1]


def test_a_monitor_reads_the_exit_code_the_json_and_the_metrics(
    guarded: Guarded, spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """R4.1: all three say the same."""
    guarded.insert("(1, 5)")
    assert guarded.dbt("run").failed == []
    project, metrics = _project(guarded), tmp_path / "tidemark.prom"
    capsys.readouterr()
    code = show_status(spark, project, as_json=True, metrics=metrics)
    message = json.loads(capsys.readouterr().out)
    assert (code, message["level"]) == (0, 0)
    assert message["choices"] == {"runs": 0, "right": 0, "dearer": {}}
    written = {table["table"]: table["rows_written"] for table in message["tables"]}
    families = {family.name: family for family in text_string_to_metric_families(metrics.read_text())}
    assert {
        sample.labels["table"]: sample.value for sample in families["tidemark_table_rows_written"].samples
    } == written
    assert families["tidemark_level"].samples[0].value == 0
    guarded.insert("(2, -1)")
    assert guarded.run("guarded") != ""
    code = show_status(spark, project, as_json=False, metrics=None)
    shown = capsys.readouterr().out
    assert code == EXIT_CODES[Level.ERROR]
    assert f"error {guarded.table('guarded')}: the last run failed: " in shown
    assert "error last run: 1 model failed" in shown
