"""Measure whether a run costs only what changed: the same increment on tables of size 1, 10 and 100.

Run as `python -m benchmarks.increment` in the project's folder. All scales share one warm session, after
two small rounds that are not measured. Each scale has its own schemas in a scratch lake, which is deleted at
the end.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path
from typing import Annotated

import typer
from pyspark.sql import SparkSession
from rich.console import Console

from benchmarks import report
from benchmarks.measuring import BenchmarkProject, Run, where
from benchmarks.orders import Orders
from benchmarks.report import Measured, Scale
from benchmarks.truth import differing_rows
from python_ingest.errors import TidemarkError
from python_ingest.project import invoke_dbt
from python_ingest.project.session import warm_session

ROOT = Path(__file__).resolve().parent.parent
LAKE = ROOT / "lake-benchmark"
BUILD = ("build", "--exclude-resource-type", "unit_test")
console = Console(highlight=False)


def measure_scale(spark: SparkSession, name: str, orders: Orders, repetitions: int) -> Scale:
    """Build both projects from the same table, and send both the same increments.

    After each increment both projects run, and they take turns to be first. So neither always runs on a JVM
    that has already compiled more of the code.

    Args:
        spark: the warm session.
        name: the prefix of the schemas' names.
        orders: the bronze table, not created yet.
        repetitions: number of increments.
    """
    console.rule(f"{name}: {orders.rows:,} rows", align="left")
    started = time.monotonic()
    orders.create()
    _say("bronze", time.monotonic() - started)
    projects = [
        BenchmarkProject(spark, ROOT, folder, f"{name}_{folder}", f"{name}_bronze", LAKE)
        for folder in ("tidemark", "stock")
    ]
    full = [_timed("full refresh", project, *BUILD, "--full-refresh") for project in projects]
    runs: list[list[Run]] = [[], []]
    for number in range(repetitions):
        orders.append()
        for which in (0, 1) if number % 2 else (1, 0):
            runs[which].append(_timed(f"increment {number + 1}", projects[which], *BUILD))
    measured = [_measured(projects[i], orders, full[i], runs[i]) for i in (0, 1)]
    for (schema,) in spark.sql(f"show schemas like '{name}_*'").collect():
        spark.sql(f"drop schema {schema} cascade")
    return Scale(orders.scale, orders.rows, 2 * orders.new_rows, *measured)


def _measured(project: BenchmarkProject, orders: Orders, full: Run, increments: list[Run]) -> Measured:
    before = project.versions()
    idle_run = _timed("nothing new, run", project, "run")
    idle_build = _timed("nothing new, build", project, *BUILD)
    commits = sum(version - before.get(table, -1) for table, version in project.versions().items())
    started = time.monotonic()
    differing = differing_rows(orders, project.prefix)
    _say(f"{project.name}: {differing} rows differ from the truth", time.monotonic() - started)
    return Measured(full, increments, idle_run, idle_build, commits, differing)


def _timed(what: str, project: BenchmarkProject, *arguments: str) -> Run:
    run = project.dbt(*arguments)
    read = f"{run.bytes_read / report.MEGABYTE:,.1f} MiB, {run.rows_read:,} rows read"
    _say(f"{project.name}: {what}", run.seconds, f"{run.cpu_seconds:6.1f} s of CPU, {read}")
    return run


def _say(what: str, seconds: float, more: str = "") -> None:
    console.print(f"  {what:<40}{seconds:8.1f} s   {more}", soft_wrap=True)


def _print_slowest(project: str, run: Run, count: int) -> None:
    console.print(f"\nSlowest statements of the last increment, {project}, of {len(run.statements)}:")
    for statement in sorted(run.statements, key=lambda statement: -statement.seconds)[:count]:
        console.print(f"  {statement}", markup=False, soft_wrap=True)


def main(
    scales: Annotated[str, typer.Option(help="Multiples of `--rows`, smallest first.")] = "1,10,100",
    rows: Annotated[int, typer.Option(help="Orders at scale 1: ten days of them.")] = 300_000,
    repetitions: Annotated[int, typer.Option(help="Increments of each project.")] = 3,
    out: Annotated[Path, typer.Option(help="The markdown file.")] = ROOT / "docs/benchmarks/increment.md",
    statements: Annotated[int, typer.Option(help="Print so many of the slowest SQL statements.")] = 0,
) -> None:
    """Measure, print, and write the markdown file."""
    os.environ.setdefault("TIDEMARK_DRIVER_MEMORY", "6g")
    os.environ["TIDEMARK_LAKE"] = str(LAKE)
    os.chdir(ROOT)
    command = f"python -m benchmarks.increment --scales {scales} --rows {rows} --repetitions {repetitions}"
    done: list[Scale] = []
    try:
        invoke_dbt(["--quiet", "parse", *where(ROOT, "tidemark", LAKE / "profile")])
        os.chdir(ROOT)
        spark = warm_session(ROOT, empty=True)
        try:
            for warm_up in ("warm_up", "warm_again"):
                measure_scale(spark, warm_up, Orders(spark, f"{warm_up}_bronze.orders_in", 1, rows // 10), 4)
            for scale in map(int, scales.split(",")):
                orders = Orders(spark, f"scale_{scale}_bronze.orders_in", scale, rows)
                done.append(measure_scale(spark, f"scale_{scale}", orders, repetitions))
                report.write(out, command, spark, done)
                if statements:
                    _print_slowest("Tidemark", done[-1].tidemark.increments[-1], statements)
                    _print_slowest("stock", done[-1].stock.increments[-1], statements)
        finally:
            spark.stop()
            shutil.rmtree(LAKE, ignore_errors=True)
    except TidemarkError as error:
        console.print(f"Error: {error}", markup=False)
        sys.exit(1)
    if any(scale.tidemark.differing or scale.stock.differing for scale in done):
        console.print("Error: tables differ from the truth, so the seconds say nothing.")
        sys.exit(1)


if __name__ == "__main__":
    typer.run(main)
