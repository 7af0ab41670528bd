"""The demo and the tour: which lake they fill, and that they delete nobody's data."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dev.demo import demo, local_lake, tour
from tidemark.base.errors import TidemarkError
from tidemark.lake import place
from tidemark.spark.settings import embedded_settings


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lakes in which a step was played; each step only writes a file there."""
    lakes: list[str] = []

    def land(*_: Any) -> None:
        lakes.append(str(place.lake_folder()))
        (place.lake_folder() / "warehouse").mkdir(exist_ok=True)
        (place.lake_folder() / "warehouse" / "part-0.parquet").write_text(str(len(lakes)))

    class Lakehouse:
        feeds: dict[str, Any] = {}  # noqa: RUF012

    for name in ("transactions", "user_events", "device_events", "inventory_movements"):
        pattern = demo.FEEDS[name].replace("*", "{}")
        for day in (1, 2):
            path = tmp_path / "data" / "raw" / name / pattern.format(day)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("x")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TIDEMARK_LAKE", raising=False)
    monkeypatch.setenv("TIDEMARK_RAW", "data/raw")
    monkeypatch.setattr(demo.ProjectWithFeeds, "load", Lakehouse)
    monkeypatch.setattr(demo, "start_session", lambda root, empty: demo_session(empty))
    monkeypatch.setattr(demo, "warm_session", lambda root: None)
    monkeypatch.setattr(demo, "land", land)
    monkeypatch.setattr(demo, "build_models", lambda *_: None)
    monkeypatch.setattr(demo, "show_verdicts", lambda *_: None)
    monkeypatch.setattr(demo, "_show", lambda *_, **__: None)
    return lakes


def demo_session(empty: bool) -> None:
    from tidemark.spark import session

    assert empty
    session._empty(place.lake_folder())


def test_the_demo_fills_the_lake_that_commands_use(
    played: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After `make demo` the first plain `dbt show` finds the tables; the hint printed works as written."""
    assert embedded_settings("delta")["spark.sql.warehouse.dir"] == f"{place.DEFAULT_LAKE}/warehouse"
    demo.play(Path.cwd())
    assert set(played) == {place.DEFAULT_LAKE}
    assert [path.name for path in Path(place.DEFAULT_LAKE, "inbox").iterdir()] == [demo.PURCHASES]
    assert "\n  .venv/bin/dbt show" in capsys.readouterr().out
    monkeypatch.setenv("TIDEMARK_LAKE", "my other lake")
    demo.play(Path.cwd(), all_feeds=True)
    assert {path.name for path in Path("my other lake", "inbox").iterdir()} == {*demo.FEEDS}
    assert "\n  TIDEMARK_LAKE='my other lake' .venv/bin/dbt show" in capsys.readouterr().out


def test_the_demo_replaces_its_own_lake_alone(played: list[str]) -> None:
    """What was written besides the demo stops it, in a sentence that names the way on; nothing is deleted."""
    demo.play(Path.cwd())
    lake = Path(place.DEFAULT_LAKE)
    (lake / "metastore").mkdir()
    (lake / "metastore" / "read by dbt show").write_text("")
    demo.play(Path.cwd())  # again
    mine = lake / "warehouse" / "part-0.parquet"
    mine.write_text("mine")
    for _ in range(2):
        with pytest.raises(TidemarkError, match=r"TIDEMARK_LAKE=lake-demo make demo.*rm -r lake"):
            demo.play(Path.cwd())
    assert mine.read_text() == "mine"
    (lake / local_lake.MARK).unlink()
    with pytest.raises(TidemarkError, match="did not make"):
        demo.play(Path.cwd())
    mine.unlink()
    for path in (lake / "inbox").rglob("*.*"):
        path.unlink()
    demo.play(Path.cwd())  # folders without files are an empty lake


def test_the_demo_drops_no_schema_of_another_lake(spark: SparkSession, prefix: str, tmp_path: Path) -> None:
    """A shared catalog may have a lake of the same names; nothing is dropped then."""
    mine, other = f"{prefix}_mine", f"{prefix}_other"
    spark.sql(f"create schema {mine}")
    spark.sql(f"create schema {other} location '{tmp_path}/other.db'")
    with pytest.raises(TidemarkError, match=f"{other} is of another lake"):
        demo.drop_tables(spark, {mine, other, f"{prefix}_missing"})
    assert spark.catalog.databaseExists(mine)
    demo.drop_tables(spark, {mine})
    assert not spark.catalog.databaseExists(mine)


def test_the_tour_says_where_its_lake_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commands that it prints work after the first one that it prints."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(os.environ, "TIDEMARK_LAKE", "lake")
    monkeypatch.setitem(os.environ, "TIDEMARK_RAW", "data/raw")
    monkeypatch.setattr(tour.ProjectWithFeeds, "load", lambda: None)
    monkeypatch.setattr(tour, "demo_files", dict)
    monkeypatch.setattr(tour, "warm_session", lambda *_, **__: None)
    stations = ("daily_files", "increments", "database", "snapshots", "devices")
    for station in stations:
        monkeypatch.setattr(tour.Tour, station, lambda self: None)
    tour.play(tmp_path)
    assert "$ export TIDEMARK_LAKE=lake-tour TIDEMARK_RAW=lake-tour/inbox\n" in capsys.readouterr().out
