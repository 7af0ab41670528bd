"""Measure the 22 queries of TPC-H as incremental models, and compare each table with its rebuild.

Run as `python -m benchmarks.queries` in the project's folder. It needs the program `tpchgen-cli` on the PATH:
`pip install tpchgen-cli`, `uv tool install tpchgen-cli`, or this project's extra `bench`. All runs share one
warm session. The scratch lake is deleted at the end.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer
from pyspark.sql import SparkSession
from rich.console import Console

from benchmarks.measuring import LAKE, ROOT, BenchmarkProject, plain_errors, scratch_session, where
from benchmarks.outcomes import graded, newest_ways, proofs
from benchmarks.queries_page import Query, write
from benchmarks.refreshes import REFRESHES, WARM_UP, apply, generate, load
from tidemark.base.errors import TidemarkError
from tidemark.engine.dbt_core.commands import invoke_dbt
from tidemark.engine.decision.costs import Choices
from tidemark.engine.verify.verdict import Verdict

NAME = "tpch"
BRONZE = f"{NAME}_bronze"
console = Console(highlight=False, markup=False)


def measure(spark: SparkSession, *, rounds: int = 1, proves: bool = True) -> tuple[list[Query], Choices]:
    """Build the models, apply the sets of changes, and run the models after each set.

    Args:
        spark: the session, with the loaded tables.
        rounds: how often the sets come, each time with other rows.
        proves: whether to compare all tables with their rebuilds after each set.

    Returns:
        The models, and how many runs took the cheaper way.
    """
    project = BenchmarkProject(spark, ROOT, NAME, NAME, BRONZE, LAKE)
    queries = {name: Query(name) for name in _run(project, "first build", "--full-refresh")}
    apply(spark, BRONZE, WARM_UP)
    _run(project, "warm-up")
    for nth in range(rounds):
        for query in queries.values():
            query.rounds.append({})
        for refresh in REFRESHES:
            apply(spark, BRONZE, refresh, nth=nth)
            for name, found in _run(project, refresh.name).items():
                queries[name].rounds[nth][refresh.name] = found
            for verdict in _verdicts(spark) if proves else ():
                queries[verdict.table.split(".")[1]].differing += verdict.differing
    found_right = graded(spark, NAME)
    for name, (seconds, _) in _run(project, "full refresh", "--full-refresh").items():
        queries[name].full = seconds
    return list(queries.values()), found_right


def _run(project: BenchmarkProject, what: str, *options: str) -> dict[str, tuple[float, str]]:
    """Run all models, one at a time; return the seconds of each and how its table was brought up to date."""
    run = project.dbt("run", "--threads", "1", *options)
    console.print(f"  {what:<40}{run.seconds:8.1f} s", soft_wrap=True)
    found = newest_ways(project.spark, NAME)
    for name, (seconds, way) in found.items():
        console.print(f"    {name}{seconds:8.1f} s   {way}", soft_wrap=True)
    return found


def _verdicts(spark: SparkSession) -> list[Verdict]:
    """Compare all tables with their rebuilds.

    Raises:
        TidemarkError: if a table cannot be compared.
    """
    found = proofs(spark, ROOT / "benchmarks" / NAME, LAKE / NAME)
    for verdict in found:
        if verdict.unproven:
            raise TidemarkError(
                f"{verdict.table} cannot be compared.", f"It is not proven: {verdict.unproven}."
            )
        if verdict.differing:
            console.print(f"    {verdict.table}: {verdict.differing} rows differ: {verdict.shown[:2]}")
    console.print(f"    {sum(verdict.differing for verdict in found)} rows differ from the rebuilds")
    return found


def main(
    scale: Annotated[float, typer.Option(help="TPC-H's scale factor.")] = 0.1,
    out: Annotated[Path, typer.Option(help="The markdown file.")] = ROOT / "docs/benchmarks/tpch.md",
    prove: Annotated[bool, typer.Option(help="Compare all tables with their rebuilds.")] = True,
    rounds: Annotated[int, typer.Option(min=1, help="How often the sets of changes come.")] = 2,
) -> None:
    """Measure, print, and write the markdown file."""
    os.environ.setdefault("TIDEMARK_DRIVER_MEMORY", "6g")
    os.environ |= {"TIDEMARK_LAKE": str(LAKE), "TIDEMARK_SCHEMA": NAME, "TPCH_SCALE": f"{scale:g}"}
    os.chdir(ROOT)
    with plain_errors():
        invoke_dbt(["--quiet", "parse", *where(ROOT, NAME, LAKE / "profile")])
        os.chdir(ROOT)
        with scratch_session() as spark:
            generate(scale, LAKE / "generated")
            rows = load(spark, LAKE / "generated", BRONZE)
            queries, found_right = measure(spark, rounds=rounds, proves=prove)
            command = f"python -m benchmarks.queries --scale {scale:g} --rounds {rounds}"
            command += "" if prove else " --no-prove"
            write(out, command, spark, rows, queries, found_right=found_right)
    if any(query.differing for query in queries):
        console.print("Error: tables differ from their rebuilds.")
        sys.exit(1)


if __name__ == "__main__":
    typer.run(main)
