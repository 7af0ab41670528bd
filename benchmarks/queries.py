"""Measure the 22 queries of TPC-H as incremental models, and compare each table with its rebuild.

Run as `python -m benchmarks.queries` in the project's folder. It needs the program `tpchgen-cli` on the PATH:
`pip install tpchgen-cli`, `uv tool install tpchgen-cli`, or this project's extra `bench`. All runs share one
warm session. The scratch lake is deleted at the end.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Annotated

import typer
from pyspark.sql import SparkSession
from rich.console import Console

from benchmarks.measuring import LAKE, ROOT, BenchmarkProject, plain_errors, scratch_session, where
from benchmarks.outcomes import newest_ways, proofs
from benchmarks.refreshes import REFRESHES, WARM_UP, apply, generate, load
from benchmarks.report import machine, markdown_table, versions
from tidemark.base.errors import TidemarkError
from tidemark.engine.dbt_core.commands import invoke_dbt
from tidemark.engine.verify.verdict import Verdict

NAME = "tpch"
BRONZE = f"{NAME}_bronze"
UNREAD = "not read"
ORDERS = 3  # the first sets change orders and lineitems
console = Console(highlight=False, markup=False)


@dataclass
class Query:
    """A model's runs.

    Attributes:
        name: the model.
        ways: how its table was brought up to date, by the name of the set of changes.
        seconds: the seconds of these runs. A table whose sources did not change has none.
        full: the seconds of a full refresh.
        differing: rows that differed from a rebuild, after any of the runs.
    """

    name: str
    ways: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    full: float = 0.0
    differing: int = 0

    @property
    def increment(self) -> float | None:
        """The median seconds after changes of orders and lineitems."""
        found = [self.seconds[refresh.name] for refresh in REFRESHES[:ORDERS] if refresh.name in self.seconds]
        return median(found) if found else None

    def row(self) -> list[str]:
        """Return the row of the table in the report."""
        seconds = [self.seconds.get(refresh.name) for refresh in REFRESHES]
        ratio = self.full / self.increment if self.increment else None
        numbers = [f"{one:.1f}" if one is not None else "–" for one in (*seconds, self.full, ratio)]
        return [self.name, self.ways.get(REFRESHES[0].name, UNREAD), *numbers]


def measure(spark: SparkSession, *, proves: bool = True) -> list[Query]:
    """Build the models, apply the sets of changes, and run the models after each set.

    Args:
        spark: the session, with the loaded tables.
        proves: whether to compare all tables with their rebuilds after each set.
    """
    project = BenchmarkProject(spark, ROOT, NAME, NAME, BRONZE, LAKE)
    queries = {name: Query(name) for name in _run(project, "first build", "--full-refresh")}
    apply(spark, BRONZE, WARM_UP)
    _run(project, "warm-up")
    for refresh in REFRESHES:
        apply(spark, BRONZE, refresh)
        for name, (seconds, way) in _run(project, refresh.name).items():
            queries[name].seconds[refresh.name], queries[name].ways[refresh.name] = seconds, way
        for verdict in _verdicts(spark) if proves else ():
            queries[verdict.table.split(".")[1]].differing += verdict.differing
    for name, (seconds, _) in _run(project, "full refresh", "--full-refresh").items():
        queries[name].full = seconds
    return list(queries.values())


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


def write(path: Path, command: str, spark: SparkSession, rows: dict[str, int], queries: list[Query]) -> None:
    """Write the markdown file.

    Args:
        path: the markdown file.
        command: the command that reproduces the numbers.
        spark: the measured session.
        rows: the rows of each table of the first load.
        queries: the measured queries.
    """
    names = [refresh.name for refresh in REFRESHES]
    read = [query for query in queries if names[0] in query.ways]
    faster = [query for query in read if query.increment and query.increment < query.full]
    kept = [query for query in read if not query.ways[names[0]].startswith("full")]
    ratios = [query.full / query.increment for query in read if query.increment]
    is_proved = "--no-prove" not in command
    differing = sum(query.differing for query in queries)
    proof = (
        f"Over all sets of changes and all tables, {differing} rows differ from the rebuilds."
        if is_proved
        else "The tables were not compared with rebuilds at this scale."
    )
    compared = "`tidemark verify` compares each table with its rebuild, row for row."
    header = ["query", "orders and lineitem changed", *(f"{name}, s" for name in names)]
    lines = [
        "# TPC-H as incremental models",
        "",
        "The 22 queries of TPC-H are dbt models in plain SQL (`benchmarks/tpch`). Their eight sources are",
        "Delta tables with a change data feed. After each set of changes, `dbt run` brings all tables up to",
        "date. Seconds are those of one model in `ops.model_runs`. The models run one at a time, in a warm",
        "session.",
        *([compared] if is_proved else []),
        "",
        f"Measured by `{command}` on {machine()}, with",
        f"{versions(spark)}. There are {rows['orders']:,} orders and {rows['lineitem']:,} lineitems.",
        f"The machine's load average, over 15 minutes, was {os.getloadavg()[2]:.1f} at the end.",
        "",
        f"In short: orders and lineitem change, and the runs maintain {len(kept)} of the {len(read)} tables",
        "that read them without computing the whole query.",
        proof,
        "",
        f"At this scale, an increment takes less time than a full refresh for {len(faster)} of these tables.",
        f"A full refresh takes {median(ratios):.1f} times as long in the median, {min(ratios):.1f} at worst.",
        "",
        "## The sets of changes",
        "",
        *(f"- **{refresh.name}**: {refresh.changes}" for refresh in REFRESHES),
        "",
        "## The queries",
        "",
        *markdown_table([*header, "full refresh, s", "full / increment"], [query.row() for query in queries]),
        "",
        "*full / increment* divides the seconds of a full refresh by the median of the first three sets.",
        "",
        "- *folded*: the changed rows are added to and subtracted from the present groups.",
        "- *touched …*: the query is computed again for the values of these columns that the changes touch.",
        "- *changed rows*: the changed rows of the table follow from those of its sources.",
        "- *in … stages*: parts of the query have tables of their own, each kept in one of these ways;",
        "  the model's table follows from them. *Read whole*: the last operator reads all rows of a stage.",
        "- *full*: the whole query is computed, and the rows that differ are written. The reason follows.",
        "",
        "## When the other tables change",
        "",
        *markdown_table(
            ["query", "how"], [[query.name, query.ways.get(names[-1], UNREAD)] for query in queries]
        ),
        "",
        "## What differs from the text of TPC-H",
        "",
        "- Each model has a `unique_key`. Queries with one row (6, 14, 17, 19) have a constant key, `scope`.",
        "- The view of query 15 is a CTE. Queries without `limit` have no `order by`: tables have no order.",
        "- In queries with `limit`, the order ends with the key. So the same rows always come first.",
        "- Query 1 also selects `sum(l_discount)`.",
        "- In queries 6 and 19, the sum of no rows is 0.",
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(
    scale: Annotated[float, typer.Option(help="TPC-H's scale factor.")] = 0.1,
    out: Annotated[Path, typer.Option(help="The markdown file.")] = ROOT / "docs/benchmarks/tpch.md",
    prove: Annotated[bool, typer.Option(help="Compare all tables with their rebuilds.")] = True,
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
            queries = measure(spark, proves=prove)
            command = f"python -m benchmarks.queries --scale {scale:g}{'' if prove else ' --no-prove'}"
            write(out, command, spark, rows, queries)
    if any(query.differing for query in queries):
        console.print("Error: tables differ from their rebuilds.")
        sys.exit(1)


if __name__ == "__main__":
    typer.run(main)
