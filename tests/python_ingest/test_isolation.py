"""One feed that fails, for any cause, or that is declared wrongly, stops no other feed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from python_ingest.feeds.declarations import choose, declared_feeds
from python_ingest.files.formats.csv import Csv
from tests.conftest import ROOT
from tidemark.base.errors import DeclarationError, LandingError, TidemarkError
from tidemark.cli import run
from tidemark.cli.landing import land
from tidemark.engine.dbt_core import profiles
from tidemark.engine.project.build import Built
from tidemark.operate.status.feeds import feed_states
from tidemark.operate.status.level import Level
from tidemark.project_with_feeds import ProjectWithFeeds

pytestmark = [pytest.mark.R1, pytest.mark.R2]


def source(name: str, location: Path, **external: Any) -> dict[str, Any]:
    return {
        "name": name,
        "schema": "bronze",
        "original_file_path": f"models/bronze/_{name}.yml",
        "external": {"location": str(location), "file_format": "csv", **external},
        "columns": {"id": {"name": "id", "data_type": "string"}},
    }


def test_declarations_are_validated_one_by_one(tmp_path: Path) -> None:
    """R1.1: the errors of the others are kept by name; of two feeds with one name or table, none is valid."""
    nodes = [source("good", tmp_path), source("bad", tmp_path, colour="red"), source("same", tmp_path)]
    feeds, invalid = declared_feeds([*nodes, source("same", tmp_path), source("same", tmp_path)])
    assert list(feeds) == ["good"]
    assert list(invalid) == ["bad", "same"]
    assert "another feed has this name" in invalid["same"].what
    two = [source(name, tmp_path) | {"identifier": "one_table"} for name in ("first", "second")]
    valid, refused = declared_feeds([*nodes[:1], *two])
    assert (list(valid), list(refused)) == (["good"], ["first", "second"])
    assert "the feed 'second' in models/bronze/_second.yml lands in bronze.one_table" in refused["first"].what
    assert [feed.name for feed in choose(feeds, ["good", "bad"], invalid)] == ["good"]
    with pytest.raises(LandingError, match=r"no feed named 'god' \(declared: bad, good, same\)") as unknown:
        choose(feeds, ["god"], invalid)
    assert "Did you mean 'good'?" in unknown.value.fix
    lakehouse = ProjectWithFeeds(ROOT, "ops", invalid=invalid, feeds=feeds)
    assert [error.feed for error in lakehouse.invalid_among([])] == ["bad", "same"]
    assert [error.feed for error in lakehouse.invalid_among(["good", "bad"])] == ["bad"]


def test_other_feeds_land(
    spark: SparkSession,
    prefix: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """R1.1: three feeds: an error in Spark, an invalid declaration, and one that lands; each is printed."""
    names = ("broken", "good", "invalid")
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.csv").write_text("id\n1\n")
    wrong = {"invalid": {"colour": "red"}}
    nodes = [
        source(name, tmp_path / name, **wrong.get(name, {})) | {"schema": f"{prefix}_bronze"}
        for name in names
    ]
    feeds, invalid = declared_feeds(nodes)
    lakehouse = ProjectWithFeeds(ROOT, f"{prefix}_ops", invalid=invalid, feeds=feeds)
    rows = Csv.rows

    def fail(self: Csv, layout: Any, files: Any, targets: Any) -> Any:
        found = rows(self, layout, files, targets)
        return found.select("no_such_column") if "broken" in files[0].whole else found

    monkeypatch.setattr(Csv, "rows", fail)
    with pytest.raises(LandingError, match=r"2 feeds failed to land: broken, invalid\."):
        land(spark, lakehouse, [*feeds.values(), *lakehouse.invalid_among([])])
    printed = capsys.readouterr().out
    assert "not landed broken: Feed 'broken': it could not land: A column" in printed
    assert "tidemark --debug land broken" in printed
    assert "not landed invalid: models/bronze/_invalid.yml: feed 'invalid': external.colour" in printed
    assert "[UNRESOLVED" not in printed
    assert spark.table(f"{prefix}_bronze.good").count() == 1
    with pytest.raises(LandingError, match="Feed 'broken': it could not land"):
        land(spark, lakehouse, [feeds["broken"]])
    with pytest.raises(DeclarationError, match=r"external\.colour"):
        land(spark, lakehouse, lakehouse.invalid_among(["invalid"]))
    states = {state.feed: state for state in feed_states(spark, lakehouse)}
    assert (states["good"].rows, states["invalid"].kind, states["invalid"].level) == (
        1,
        "invalid",
        Level.ERROR,
    )
    assert "external.colour" in states["invalid"].problem


def test_a_run_builds_what_does_not_read_a_failed_feed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """R2.3: the models below a failed feed are left out; the run then fails with the feed's error."""
    lakehouse = ProjectWithFeeds.load()
    wrong = DeclarationError("x.yml", "user_events", "external", "wrong", "Correct it.")
    valid = {name: feed for name, feed in lakehouse.feeds.items() if name != "user_events"}
    lakehouse = replace(lakehouse, feeds=valid, invalid={"user_events": wrong})
    built: list[list[str]] = []

    def land_each(spark: object, project: object, feeds: Any) -> Any:
        errors = {feed.feed: feed for feed in feeds if isinstance(feed, DeclarationError)}
        failed = {feed.name: TidemarkError("No.", "Retry.") for feed in feeds if feed not in errors.values()}
        return [], {name: error for name, error in failed.items() if name == "transactions"} | errors

    def build(options: Any, project: object) -> Built:
        built.append(list(options))
        return Built()

    monkeypatch.setattr(profiles, "embedded_target", lambda root: "")
    monkeypatch.setattr(ProjectWithFeeds, "load", lambda: lakehouse)
    monkeypatch.setattr(run, "hold", lambda folder: None)
    monkeypatch.setattr(run, "start_session", lambda root: None)
    monkeypatch.setattr(run, "warm_session", lambda root: None)
    monkeypatch.setattr(run, "land_each", land_each)
    monkeypatch.setattr(run, "build_models", build)
    with pytest.raises(LandingError, match="2 feeds failed to land: transactions, user_events"):
        run.run()
    below = ["source:bronze.transactions+", "source:bronze.user_events+"]
    assert (built[0][-3], sorted(built[0][-2:])) == ("--exclude", below)
    assert "not built models that read transactions, user_events" in capsys.readouterr().out.replace("\n", "")
    with pytest.raises(DeclarationError, match="wrong"):
        run.run(select=["source:bronze.user_events+"])
    assert lakehouse.selected_names(["source:bronze.user_events+"]) == ["user_events"]
    run.run(select=["source:bronze.device_events+"])
    assert "--exclude" not in built[2]
