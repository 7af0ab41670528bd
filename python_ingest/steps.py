"""The steps of a run, and what they print."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console

from python_ingest.build import Built
from python_ingest.build import build as dbt_build
from python_ingest.declarations import Feed
from python_ingest.errors import DbtError
from python_ingest.landing import Landed, Lander
from python_ingest.project import Project

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NARROW = 100
console = Console(highlight=False, soft_wrap=True)
if not console.is_terminal:
    console = Console(highlight=False, soft_wrap=True, width=NARROW)


def land(spark: SparkSession, project: Project, feeds: Sequence[Feed]) -> list[Landed]:
    """Land feeds and print a line for each.

    Raises:
        LandingError: for a location that cannot be read.
    """
    outcomes = []
    for feed in feeds:
        started = time.monotonic()
        with console.status(f"landing {feed.name}"):
            outcome = Lander(spark, feed, project.ops_schema).land()
        outcomes.append(outcome)
        _row(feed.table, _landed(outcome), time.monotonic() - started)
        for path, reason in outcome.rejected.items():
            console.print(f"  [yellow]set aside[/] {path}: {reason}")
    return outcomes


def build(selection: Sequence[str], full_refresh: bool = False) -> Built:
    """Run `dbt build` and print a line for each table, then the tests.

    Raises:
        DbtError: when a node failed.
    """
    started = time.monotonic()
    with console.status("dbt build") as status:
        built = dbt_build(selection, full_refresh, lambda name: status.update(f"dbt build: {name}"))
    for table in built.tables:
        _row(table.table, table.said, table.seconds)
    for name, message in built.warned:
        console.print(f"  [yellow]warning[/] {name}: {message}", markup=True)
    for name, message in built.failed:
        console.print(f"  [red]failed[/] {name}")
        console.print(f"{message}", markup=False)
    _row("dbt build", f"{built.passed} tests passed", time.monotonic() - started)
    if built.failed:
        raise DbtError(
            f"{len(built.failed)} of dbt's nodes failed, {built.skipped} were skipped after them.",
            "Mend what is named above and run again: what succeeded is kept, the rest resumes.",
        )
    return built


def _landed(outcome: Landed) -> str:
    parts = []
    if outcome.resumed:
        parts.append(f"finished batch {', '.join(map(str, outcome.resumed))} of an earlier run")
    if outcome.files:
        parts.append(f"{_count(outcome.files, 'file')} landed, {outcome.rows:,} rows")
    else:
        parts.append("nothing new")
    if outcome.known:
        parts.append(f"{_count(outcome.known, 'file')} known")
    return ", ".join(parts)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _row(name: str, said: str, seconds: float) -> None:
    console.print(f"  {name:<30} {said:<44} {seconds:6.1f} s", markup=False)
