"""Rows and files that disappear: silver is what follows from the files that are there now."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from python_ingest.bronze.table import BronzeTable
from python_ingest.files.landing import Lander
from python_ingest.files.outcome import LandedFiles
from python_ingest.ops.ingested_files import IngestedFiles
from tests.conftest import ONLY_TABLES, ROOT, latest_version, take_back
from tests.lakehouse.conftest import FIXTURES
from tidemark.base.errors import LandingError
from tidemark.engine.project.build import build
from tidemark.engine.verify.verify import verify
from tidemark.project_with_feeds import ProjectWithFeeds

pytestmark = pytest.mark.R1
Item = tuple[str, str, int]  # id, quantity as text, version
Held = dict[str, tuple[int, int]]  # by id, quantity and version
MODELS = ("landed_last", "newest")
SEED, STEPS, FIRST_TIME = 39, 6, 1_700_000_000


@dataclass
class Stock:
    """A feed of files in a folder, the two models of the fixture `retracted`, and what they should hold.

    Attributes:
        folder: the files.
        landed: by file name, its lines, its time, and the number of the landing.
        written: by file name, its lines and its time.
    """

    spark: SparkSession
    prefix: str
    folder: Path
    project: ProjectWithFeeds
    landed: dict[str, tuple[list[Item], int, int]] = field(default_factory=dict)
    written: dict[str, tuple[list[Item], int]] = field(default_factory=dict)
    landings: int = 0

    def write(self, name: str, *items: Item, at: int | None = None) -> None:
        """Write a file, by default later than all others."""
        time = at or max((of for _, of in self.written.values()), default=FIRST_TIME) + 10
        path = self.folder / name
        path.write_text("item_id,quantity,version\n" + "".join(f"{a},{b},{c}\n" for a, b, c in items))
        os.utime(path, (time, time))
        self.written[name] = [*items], time

    def remove(self, name: str) -> None:
        (self.folder / name).unlink()
        del self.written[name]

    def land(self) -> LandedFiles:
        feed: Any = self.project.feeds["items"]
        outcome = Lander(self.spark, feed, f"{self.prefix}_ops").land()
        self.landings += 1
        self.landed = {name: one for name, one in self.landed.items() if name in self.written}
        for name, (items, time) in self.written.items():
            if name not in self.landed or self.landed[name][0] != items:
                self.landed[name] = items, time, self.landings
        return outcome

    def expected(self, *, by_version: bool) -> Held:
        """The newest accepted row of each key in the files that are there."""
        rows = [
            ((item[2] if by_version else 0, landing, time, name, line), item)
            for name, (items, time, landing) in self.landed.items()
            for line, item in enumerate(items)
            if item[1].isdigit()
        ]
        return {item[0]: (int(item[1]), item[2]) for _, item in sorted(rows)}

    def check(self) -> None:
        """Build, and compare both models with what they should hold."""
        assert self.build(*MODELS) == []
        assert self.held("landed_last") == self.expected(by_version=False)
        assert self.held("newest") == self.expected(by_version=True)

    def build(self, *models: str) -> list[Any]:
        options = [*ONLY_TABLES, "--select", *models]
        return list(build(options, lambda _: None, self.project.manifest).failed)

    def held(self, model: str) -> Held:
        rows = self.spark.table(f"{self.prefix}_silver.{model}").collect()
        found = {row["item_id"]: (row["quantity"], row["version"]) for row in rows}
        assert len(found) == len(rows)
        return found

    def verify(self) -> None:
        assert [(one.holds, one.rows > 0) for one in verify(self.spark, MODELS)] == [(True, True)] * 2


@pytest.fixture
def stock(
    spark: SparkSession, prefix: str, table_format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Stock]:
    folder = tmp_path / "raw items"
    folder.mkdir()
    monkeypatch.setenv("TIDEMARK_SCHEMA", prefix)
    monkeypatch.setenv("TIDEMARK_RAW", str(folder))
    monkeypatch.setenv("DBT_PROFILES_DIR", str(ROOT))
    monkeypatch.setenv("DBT_TARGET_PATH", str(tmp_path / "target"))
    monkeypatch.setenv("DBT_LOG_PATH", str(tmp_path / "logs"))
    os.chdir(FIXTURES / "retracted")
    yield Stock(spark, prefix, folder, ProjectWithFeeds.load())
    os.chdir(ROOT)


def _killed_in(owner: Any, method: str, stock: Stock) -> None:
    def end(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, method, end)
        with pytest.raises(KeyboardInterrupt):
            stock.land()


@pytest.mark.formats(day="iceberg", night="delta iceberg")
def test_silver_follows_the_files_that_are_there(stock: Stock) -> None:
    """R1.2: a row is removed, a file is removed and comes back, a landing is killed, in any order."""
    stock.write("a.csv", ("1", "10", 1), ("2", "20", 1), ("3", "30", 1))
    stock.write("b.csv", ("3", "33", 3), ("4", "40", 1), ("5", "50", 1))
    stock.write("c.csv", ("3", "35", 2), ("5", "a dozen", 2))
    assert stock.land().retracted == 0
    stock.check()

    stock.write("b.csv", ("4", "41", 1), ("5", "50", 1))
    outcome = stock.land()
    assert (outcome.files, outcome.rows, outcome.retracted, outcome.removed) == (1, 2, 2, [])
    stock.check()
    assert stock.held("newest")["3"] == (35, 2), "the older version of a file that is still there"
    assert stock.land().retracted == 0

    stock.remove("c.csv")
    _killed_in(BronzeTable, "append", stock)
    _killed_in(IngestedFiles, "confirm", stock)
    outcome = stock.land()
    assert (outcome.resumed, outcome.removed, outcome.retracted, outcome.files) == (4, ["c.csv"], 2, 0)
    stock.check()
    assert stock.held("landed_last")["3"] == (30, 1)

    stock.write("c.csv", ("3", "35", 2), ("5", "a dozen", 2))
    assert stock.land().files == 1
    _lose_tombstones(stock)

    for name in ("a.csv", "b.csv", "c.csv"):
        stock.remove(name)
    with pytest.raises(LandingError, match=r"3 of 3 landed files are gone .* \(a\.csv, b\.csv, c\.csv\)"):
        stock.land()
    stock.write("a.csv", ("1", "10", 1), ("2", "20", 1), ("3", "30", 1))
    stock.land()
    stock.check()

    _disturb(stock)
    stock.check()
    stock.verify()

    ((_, message),) = stock.build("forgetful")
    assert (
        "forgetful: it reads a feed with `on_removed: retract`, but does not select `_is_deleted`" in message
    )


def _lose_tombstones(stock: Stock) -> None:
    """Rows that retract keys are counted as those of files are: if they are lost, nothing lands."""
    table = f"{stock.prefix}_bronze.items"
    version = latest_version(stock.spark, table)
    stock.spark.sql(f"delete from {table} where _is_deleted")
    with pytest.raises(LandingError, match="missing 4 landed rows, from the retracted rows of batch 2, the"):
        stock.land()
    take_back(stock.spark, table, version)


def _disturb(stock: Stock) -> None:
    """Write, replace and remove files at random; some come with an old time, some runs are left out."""
    rng = random.Random(SEED)
    for step in range(STEPS):
        name = rng.choice("abcd") + ".csv"
        if name in stock.written and len(stock.written) > 2 and rng.random() < 0.4:
            stock.remove(name)
        else:
            items = [
                (str(rng.randint(1, 4)), rng.choice(["7", "8", "9", "few"]), rng.randint(1, 3))
                for _ in range(rng.randint(1, 3))
            ]
            stock.write(name, *items, at=FIRST_TIME + 5 if rng.random() < 0.3 else None)
        if rng.random() < 0.7:
            stock.land()
        if step % 3 == 2:
            stock.land()
            stock.check()
