"""The main job in steps: the same on each target, so that the tables can be compared.

As a program (`python -m tests.lakehouse.playing ORDER`) it plays on the target of the environment, prints a
line before each step, and writes what it found to a file.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from tests.conftest import ONLY_TABLES, ROOT
from tidemark.cli.build import build_models
from tidemark.cli.erase import erase_person
from tidemark.cli.landing import land
from tidemark.engine.project.session import warm_session
from tidemark.engine.verify.verify import verify
from tidemark.project_with_feeds import ProjectWithFeeds

FEED = "user_events"
SELECTED = ("--select", f"source:bronze.{FEED}+", "event_types")
OF_THE_RUN = ("_ingested_at", "_source_modified_at", "_row_number")  # columns that differ between two runs
STEPS = ("first files", "late file", "nothing new")


@dataclass
class Order:
    """What to play.

    Attributes:
        files: raw files; the last one arrives late.
        inbox: the local folder to which they are copied, which the target sees.
        found: the file for the result.
        erases: the key of a person who is erased at the end, as `column=value`.
    """

    files: list[str]
    inbox: str
    found: str
    erases: str


@dataclass
class Found:
    """What the steps left.

    Attributes:
        rows: the sorted rows of each table as JSON.
        written: the number of tables that each step wrote.
        differing: for each table the rows that `verify` found to differ, or why it could not tell.
    """

    rows: dict[str, list[str]]
    written: list[int]
    differing: dict[str, str | int]


def play(
    spark: SparkSession,
    files: Sequence[str],
    inbox: Path,
    on_step: Callable[[str], object] = lambda step: None,
    *,
    proves: bool = True,
) -> Found:
    """Land and build in the steps, then verify.

    Args:
        spark: the session.
        files: raw files; the last one arrives late.
        inbox: the feed's folder.
        on_step: called before each step with its name.
        proves: whether to verify at the end.
    """
    inbox.mkdir(parents=True, exist_ok=True)
    written = []
    for step, batch in zip(STEPS, (files[:-1], files[-1:], []), strict=True):
        for file in batch:
            shutil.copy(file, inbox)
        on_step(step)
        lakehouse = ProjectWithFeeds.load()
        landed = land(spark, lakehouse, [lakehouse.feeds[FEED]])
        built = build_models([*ONLY_TABLES, *SELECTED], lakehouse)
        wrote = [table for table in built.tables if table.message not in ("no change", "nothing new")]
        written.append(len(wrote) + sum(1 for outcome in landed if outcome.rows))
    names = [table.table for table in built.tables]
    verdicts = [verdict for verdict in (verify(spark, []) if proves else ()) if verdict.table in names]
    differing = {_short(one.table): one.unproven or one.differing for one in verdicts}
    names.append(f"{_prefix()}bronze.{FEED}")
    return Found({_short(name): _rows(spark, name) for name in names}, written, differing)


def _prefix() -> str:
    schema = os.environ.get("TIDEMARK_SCHEMA", "default")
    return "" if schema == "default" else f"{schema}_"


def _short(table: str) -> str:
    return table.removeprefix(_prefix())


def _rows(spark: SparkSession, table: str) -> list[str]:
    return sorted(spark.table(table).drop(*OF_THE_RUN).toJSON().collect())


def main() -> None:
    """Play the order."""
    order = Order(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    ProjectWithFeeds.load()
    spark = warm_session(ROOT)
    found = play(
        spark,
        order.files,
        Path(order.inbox),
        lambda step: print(f"step: {step}", flush=True),
    )
    Path(order.found).write_text(json.dumps(asdict(found)), encoding="utf-8")
    erase_person(spark, ProjectWithFeeds.load(), FEED, [order.erases])


if __name__ == "__main__":
    main()
