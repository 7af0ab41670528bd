"""`tidemark add` on files of strangers: silver has the values of the records, or they are refused."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.conftest import ROOT
from tests.fuzz.strange_feeds import Record, StrangeFeed, strange_feed
from tests.night import is_night
from tidemark.base.errors import TidemarkError
from tidemark.cli.add import add_feed
from tidemark.cli.build import DATA_ONLY, build_models
from tidemark.cli.init import init
from tidemark.cli.landing import land
from tidemark.project_with_feeds import ProjectWithFeeds

pytestmark = [pytest.mark.R1, pytest.mark.R5]
FEEDS = 300 if is_night("feeds") else 1
GROUP = 20  # feeds in one project


@pytest.fixture
def new_project(
    tmp_path: Path, spark: SparkSession, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """A project that `tidemark init` wrote, which is the current folder."""
    (tmp_path / ".jars").symlink_to(ROOT / ".jars")
    monkeypatch.setenv("TIDEMARK_SCHEMA", prefix)
    monkeypatch.setenv("TIDEMARK_RAW", str(tmp_path / "data/raw"))
    init(tmp_path, "strange")
    os.chdir(tmp_path)
    yield tmp_path
    os.chdir(ROOT)


@pytest.mark.parametrize("first", range(0, FEEDS, GROUP))
def test_records_land_as_they_are_or_are_refused(
    new_project: Path, spark: SparkSession, prefix: str, first: int
) -> None:
    """R1.1-R1.4: delimiters, encodings, dates, numbers, shapes, archives; two deliveries of each feed."""
    feeds = [strange_feed(number) for number in range(first, min(first + GROUP, FEEDS))]
    added = [feed for feed in feeds if _is_added(new_project / "data/raw", feed)]
    assert len(added) * 2 >= len(feeds), [feed.traits for feed in feeds if feed not in added]
    lakehouse = ProjectWithFeeds.load()
    for part in ("first", "later"):
        for feed in added:
            _write(new_project / "data/raw" / feed.name, getattr(feed, part))
        land(spark, lakehouse, [lakehouse.feeds[feed.name] for feed in added])
        built = build_models([*DATA_ONLY, "--select", *(f"source:bronze.{feed.name}+" for feed in added)])
        assert not built.failed, built.failed
    for feed in added:
        rows = spark.table(f"{prefix}_silver.{feed.name}").collect()
        rejected = spark.table(f"{prefix}_silver.rejected_{feed.name}").count()
        _compare(feed, {str(row["id"]): row.asDict() for row in rows}, rejected)


def _is_added(folder: Path, feed: StrangeFeed) -> bool:
    _write(folder / feed.name, feed.first)
    try:
        add_feed(folder / feed.name, None, ProjectWithFeeds.load(), key=("id",))
    except TidemarkError:
        return False
    return True


def _write(folder: Path, files: dict[str, bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)


def _compare(feed: StrangeFeed, rows: dict[str, dict[str, Any]], rejected: int) -> None:
    """Each record is in silver with its values, or rejected; and silver has no other row."""
    by_id = {record["id"][0]: record for record in feed.records}
    assert rows.keys() <= by_id.keys(), (feed.name, feed.traits, rows.keys() - by_id.keys())
    assert len(rows) + rejected == len(by_id), (feed.name, feed.traits, len(rows), rejected, len(by_id))
    for key, row in rows.items():
        for column, (text, value) in by_id[key].items():
            assert _is_same(row[column], text, value), (feed.name, feed.traits, column, row[column], text)


def _is_same(found: Any, text: str, value: Any) -> bool:
    """Return whether a value of silver is the value of the record, or its text."""
    if isinstance(found, str):
        return found == text.strip()
    if isinstance(found, float):
        return not isinstance(value, str) and found == float(value)
    if isinstance(found, datetime) and isinstance(value, datetime):
        return found == value
    if isinstance(found, date) and isinstance(value, date):
        return found == value
    if isinstance(found, int) and str(found) == text:
        return True  # digits alone, of which nothing is lost
    return isinstance(found, (int, Decimal)) and isinstance(value, (int, Decimal)) and found == value


def test_a_record_is_compared_by_value() -> None:
    """The comparison would notice a changed value."""
    record: Record = {"id": ("1", 1), "zip": ("02134", "02134")}
    feed = StrangeFeed("zips", records=[record])
    _compare(feed, {"1": {"id": 1, "zip": "02134"}}, 0)
    wrong = (2134, "2134", None, 2134.0, Decimal(2134))
    for row in ({"id": 1, "zip": value} for value in wrong):
        with pytest.raises(AssertionError):
            _compare(feed, {"1": row}, 0)
