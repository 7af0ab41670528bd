"""The steps of a run, and what they print."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.filesize import decimal
from rich.markup import escape

from python_ingest.build import Built
from python_ingest.build import build as dbt_build
from python_ingest.declarations import Feed
from python_ingest.errors import DbtError, VerificationError
from python_ingest.examining import Landed
from python_ingest.explain import explain as explain_models
from python_ingest.landing import Lander
from python_ingest.project import Project
from python_ingest.verify import Difference, Verdict
from python_ingest.verify import verify as verify_models

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NARROW = 100
DATA_ONLY = ("--exclude-resource-type", "unit_test")  # unit tests look at SQL, not at data
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
            console.print(f"  [yellow]set aside[/] {escape(f'{path}: {reason}')}")
        for path in outcome.ignored:
            console.print(f"  [yellow]ignored[/] {escape(f'{path}: changed after it was landed')}")
        for path in outcome.unsettled:
            console.print(f"  [yellow]left for the next run[/] {escape(f'{path}: still being written')}")
    return outcomes


def build(options: Sequence[str] = ()) -> Built:
    """Run `dbt build` and print a line for each table, then the tests.

    Args:
        options: the words after `dbt build`.

    Raises:
        DbtError: when a node failed.
    """
    started = time.monotonic()
    with console.status("dbt build") as status:
        built = dbt_build(options, lambda name: status.update(f"dbt build: {name}"))
    for table in built.tables:
        _row(table.table, table.said, table.seconds)
    for name, message in built.warned:
        console.print(f"  [yellow]warning[/] {escape(f'{name}: {message}')}")
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


def verify(spark: SparkSession, selection: Sequence[str]) -> list[Verdict]:
    """Compare tables with their rebuild and print a line for each.

    Raises:
        VerificationError: when a table differs, or cannot be compared.
    """
    verdicts = []
    for verdict in verify_models(spark, selection):
        verdicts.append(verdict)
        said = verdict.unproven or f"{verdict.rows:,} rows, {verdict.differing:,} rows differ"
        _row(verdict.table, said, verdict.seconds)
        for difference in verdict.shown:
            console.print(f"    only in the {difference.side}: {_values(difference)}", markup=False)
    failed = [verdict.table for verdict in verdicts if not verdict.holds]
    if failed:
        raise VerificationError(
            f"{_count(len(failed), 'table')} not proven: {', '.join(failed)}.",
            "If a run was cut off since, run once and verify again. A table that still differs was written "
            "by something else, or is a defect: `dbt run --full-refresh --select MODEL+` rebuilds it.",
        )
    return verdicts


def explain(spark: SparkSession, selection: Sequence[str]) -> None:
    """Print what the next run would do with each model."""
    for plan in explain_models(spark, selection):
        console.print(f"  {plan.table}", markup=False)
        for read in plan.reads:
            size = f": {read.rows:,} rows, {decimal(read.bytes)}" if read.rows else ""
            console.print(f"    reads {read.source} {read.said}{size}", markup=False)
            if read.touches:
                console.print(f"    goes back to {read.source} for {read.touches}", markup=False)
        if plan.waits_for:
            console.print(f"    after {', '.join(plan.waits_for)}, which the run changes first", markup=False)


def _values(difference: Difference) -> str:
    values = ", ".join(f"{name}={value}" for name, value in difference.row.items())
    return values if difference.copies == 1 else f"{values} ({difference.copies} times)"


def _landed(outcome: Landed) -> str:
    parts = []
    if outcome.resumed:
        parts.append(f"finished batch {outcome.resumed} of an earlier run")
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
