"""Feeds that land side by side: the same tables, the same lines in the same order, as one after another."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from py4j.protocol import Py4JNetworkError
from pyspark.sql import SparkSession

from python_ingest.feeds.declarations import Feed, FileFeed, feeds_of
from python_ingest.files.landing import Lander
from python_ingest.files.outcome import LandedFiles
from python_ingest.land import land_each
from python_ingest.land_one import Landing, LandingOptions
from python_ingest.ops.ingested_files import IngestedFiles
from tidemark.base.errors import SparkLostError

pytestmark = [pytest.mark.R1, pytest.mark.formats(day="delta", night="delta iceberg")]

NAMES = ("apples", "bananas", "cherries")
PAIR = NAMES[:2]
TOGETHER = LandingOptions(at_once=len(NAMES))
PATIENCE = 300  # seconds until a feed gives up to wait for the others


@pytest.fixture
def feeds(table_format: str, prefix: str, tmp_path: Path) -> list[Feed]:
    """Feeds of one file each, which has a broken record."""
    nodes = [
        {
            "name": name,
            "schema": f"{prefix}_bronze",
            "original_file_path": "models/bronze/_bronze__sources.yml",
            "external": {"location": str(tmp_path / name), "file_format": "csv"},
            "columns": {"id": {"name": "id", "data_type": "string"}},
        }
        for name in NAMES
    ]
    feeds = [*feeds_of(nodes).values()]
    for number, feed in enumerate(feeds):
        write(feed, "a.csv", number + 1)
    return feeds


def write(feed: Feed, name: str, rows: int) -> None:
    """Write a file with some rows and one record that cannot be read."""
    assert isinstance(feed, FileFeed)
    folder = Path(feed.external.location)
    folder.mkdir(exist_ok=True)
    lines = ["id", *map(str, range(rows)), "1,too,many"]
    (folder / name).write_text("\n".join(lines) + "\n")


def landed(spark: SparkSession, prefix: str) -> dict[str, tuple[int, int, list[str]]]:
    """Return the rows of each feed, the rejected ones, and the states of its files in their order."""
    found = {}
    for name in PAIR:
        rows = spark.table(f"{prefix}_bronze.{name}").count()
        of_feed = f"feed = '{name}'"
        rejected = spark.table(f"{prefix}_ops.rejected_records").where(of_feed).count()
        files = spark.table(f"{prefix}_ops.ingested_files").where(of_feed).orderBy("path", "_sequence")
        found[name] = (rows, rejected, [row["state"] for row in files.select("state").collect()])
    return found


def test_they_land_at_the_same_time_and_are_told_in_their_order(
    spark: SparkSession,
    feeds: list[Feed],
    prefix: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """R1.1, R1.5: none begins without the others, the last ends first, and all share their state tables.

    Killed when all have written and none has recorded it, each resumes its own batch.
    """
    pair = feeds[: len(PAIR)]
    all_began, ended = threading.Barrier(len(PAIR)), [threading.Event() for _ in (*PAIR, "end")]
    ended[-1].set()
    land = Lander.land

    def land_after_the_next(self: Lander) -> LandedFiles:
        number = PAIR.index(self._feed.name)
        all_began.wait(PATIENCE)
        outcome = land(self)
        assert ended[number + 1].wait(PATIENCE)
        return outcome

    def note(landing: Landing) -> None:
        reports.append(landing)
        ended[PAIR.index(landing.feed.name)].set()

    with monkeypatch.context() as patch:
        patch.setattr(Lander, "land", land_after_the_next)
        reports: list[Landing] = []
        outcomes, failed = land_each(spark, f"{prefix}_ops", pair, options=TOGETHER, report=note)
    assert failed == {}
    assert [outcome.rows for outcome in outcomes] == [2, 3]
    assert [report.feed.name for report in reports] == [*reversed(PAIR)]
    printed = [line for line in capsys.readouterr().out.splitlines() if f"{prefix}_bronze." in line]
    assert [line.split()[0] for line in printed] == [f"{prefix}_bronze.{name}" for name in PAIR]
    first = {name: (number + 2, 1, ["planned", "landed"]) for number, name in enumerate(PAIR)}
    assert landed(spark, prefix) == first

    for feed in pair:
        write(feed, "b.csv", 1)
    all_wrote = threading.Barrier(len(PAIR))

    def killed(self: IngestedFiles, *_: object) -> None:
        all_wrote.wait(PATIENCE)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(IngestedFiles, "confirm", killed)
        with pytest.raises(KeyboardInterrupt):
            land_each(spark, f"{prefix}_ops", pair, options=TOGETHER)
    outcomes, failed = land_each(spark, f"{prefix}_ops", pair, options=TOGETHER)
    assert (failed, [outcome.resumed for outcome in outcomes]) == ({}, [2] * len(PAIR))
    states = ["planned", "landed", "planned", "landed"]
    assert landed(spark, prefix) == {name: (rows + 2, 2, states) for name, (rows, _, _) in first.items()}


def test_what_was_rejected_lands_again_feed_by_feed(
    spark: SparkSession, feeds: list[Feed], prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R1.4: it marks rows of a table that the feeds have in common."""
    threads: list[int] = []

    def pool(at_once: int) -> ThreadPoolExecutor:
        threads.append(at_once)
        return ThreadPoolExecutor(at_once)

    monkeypatch.setattr("python_ingest.land.ThreadPoolExecutor", pool)
    monkeypatch.setattr(Lander, "replay", lambda self: LandedFiles(self._feed.name))
    options = LandingOptions(replays=True, at_once=len(NAMES))
    outcomes, _ = land_each(spark, f"{prefix}_ops", feeds, options=options)
    assert (len(outcomes), threads) == (len(NAMES), [1])


def test_the_end_of_spark_is_one_error(
    spark: SparkSession,
    feeds: list[Feed],
    prefix: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """R1.5: it names the feeds that were landing; what had landed is told, and no further feed begins."""
    began: list[str] = []
    both = threading.Barrier(2)

    def land(self: Lander) -> LandedFiles:
        began.append(self._feed.name)
        if self._feed.name == NAMES[0]:
            return LandedFiles(self._feed.name)
        both.wait(PATIENCE)
        raise Py4JNetworkError("Answer from Java side is empty")

    monkeypatch.setattr(Lander, "land", land)
    monkeypatch.setattr("python_ingest.land_one.spark_is_lost", lambda spark: True)
    ended = r"Feeds 'bananas', 'cherries': Spark's process \(the JVM\) ended\."
    with pytest.raises(SparkLostError, match=ended):
        land_each(spark, f"{prefix}_ops", feeds, options=TOGETHER)
    assert f"{prefix}_bronze.apples" in capsys.readouterr().out
    both = threading.Barrier(1)
    began.clear()
    with pytest.raises(SparkLostError, match="Feed 'bananas': "):
        land_each(spark, f"{prefix}_ops", feeds[1:])
    assert began == ["bananas"]
