"""The measured numbers as tables: on the terminal, and in a markdown file that each scale rewrites."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median

from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

from benchmarks.measuring import Run, Statement

MEGABYTE = 1024 * 1024
KINDS = {  # by the beginning of the statement
    "MERGE": "merge",
    "outcomes: computed and counted": "cache lazy table|select _outcome",
    "values to prune by": r"select count\(\*\) as number|select 1 as one",
    "temporary views": "create or replace temporary view",
    "marks read": "select newest",
    "run recorded": "insert",
    "catalog": "show|describe",
}
TESTS, OTHERS = "data tests", "others: the query's columns"


@dataclass
class Measured:
    """The cost of one project at one scale.

    Attributes:
        full: the full refresh, by `dbt build`.
        increments: the increments, by `dbt build`.
        idle_run: `dbt run` without new data.
        idle_build: `dbt build` without new data.
        idle_commits: commits of these two runs, including checkpoints.
        differing: number of rows that differ from the truth at the end.
    """

    full: Run
    increments: list[Run]
    idle_run: Run
    idle_build: Run
    idle_commits: int
    differing: int

    @property
    def increment(self) -> float:
        """The median seconds of an increment."""
        return median(run.seconds for run in self.increments)

    @property
    def increment_cpu(self) -> float:
        """The median processor seconds of an increment."""
        return median(run.cpu_seconds for run in self.increments)

    @property
    def increment_bytes(self) -> float:
        """The median bytes that an increment read."""
        return median(run.bytes_read for run in self.increments)


@dataclass
class Scale:
    """Both projects at one scale."""

    scale: int
    rows: int
    increment_rows: int
    tidemark: Measured
    stock: Measured


def tables(scales: Sequence[Scale]) -> dict[str, list[list[str]]]:
    """Return the tables by title; the first row of each is its header."""
    return {
        "Tidemark, seconds": _seconds(
            [(s, s.tidemark) for s in scales],
            "full / increment",
            [s.tidemark.full.seconds / s.tidemark.increment for s in scales],
        ),
        "Stock dbt-spark, seconds": _seconds(
            [(s, s.stock) for s in scales],
            "full / increment",
            [s.stock.full.seconds / s.stock.increment for s in scales],
        ),
        "Tidemark / stock": [
            ["scale", "rows", "increment", "its CPU", "full refresh", "its CPU", "nothing new: build"],
            *([f"{s.scale}x", f"{s.rows:,}", *(f"{value:.2f}" for value in _ratios(s))] for s in scales),
        ],
        f"Statements of an increment at {scales[0].scale}x, by kind": _kinds(scales[0]),
        "Read by one increment, tests included": [
            ["scale", "rows", "rows changed", "Tidemark MiB", "Tidemark rows", "stock MiB", "stock rows",
             "rows differing from the truth"],
            *([f"{s.scale}x", f"{s.rows:,}", f"{s.increment_rows:,}",
               _mebibytes(s.tidemark), _rows(s.tidemark), _mebibytes(s.stock), _rows(s.stock),
               f"{s.tidemark.differing} / {s.stock.differing}"] for s in scales),
        ],
    }  # fmt: skip


def summary(scales: Sequence[Scale]) -> str:
    """Return a sentence with the ratios of the largest scale."""
    first, last = scales[0], scales[-1]
    increment, idle = last.tidemark.increment, last.tidemark.idle_build.seconds
    read = last.tidemark.increment_bytes / first.tidemark.increment_bytes
    return (
        f"In short, at {last.scale}x: an increment takes {increment / first.tidemark.increment:.2f} times "
        f"the seconds, and reads {read:.2f} times the bytes, of one at {first.scale}x; a full refresh "
        f"takes {last.tidemark.full.seconds / increment:.1f} times as long, an increment of stock dbt-spark "
        f"{last.stock.increment / increment:.1f} times; with nothing new a build takes {idle:.1f} s and "
        f"makes {last.tidemark.idle_commits} commits."
    )


def write(path: Path, command: str, spark: SparkSession, scales: Sequence[Scale]) -> None:
    """Write the markdown file, and print the same tables.

    Args:
        path: the markdown file.
        command: the command that reproduces the numbers.
        spark: the measured session.
        scales: the scales measured so far.
    """
    console = Console(width=140)
    lines = [
        "# Every run costs what changed",
        "",
        "The same change to tables of several sizes, built by `benchmarks/tidemark` with this project's",
        "macros and by `benchmarks/stock` with dbt-spark's own `incremental`: a silver table by day, and two",
        "gold ones added up from it. An increment is new orders on the last day and as many updates of the",
        "last two days' orders. Seconds are those of one `dbt build`, tests included, on a warm session; for",
        "increments the median (fastest..slowest). Both projects test keys and NULLs; Tidemark's also",
        "adds up each gold table and compares the sums with silver. After each increment both projects run,",
        "in turns one of them first. At the end all tables are compared with plain SQL over bronze.",
        "",
        f"Measured by `{command}` on {machine()}, with {versions(spark)}.",
        "",
        summary(scales),
    ]  # fmt: skip
    for title, (header, *rows) in tables(scales).items():
        lines += ["", f"## {title}", "", *markdown_table(header, rows)]
        table = Table(title=title, title_justify="left", box=None, pad_edge=False)
        for name in header:
            table.add_column(name, justify="right")
        for row in rows:
            table.add_row(*row)
        console.print(table)
        console.print()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _seconds(
    measured: Sequence[tuple[Scale, Measured]], ratio: str, ratios: Sequence[float]
) -> list[list[str]]:
    scale, first = measured[0]
    return [
        ["scale", "rows", "full refresh", "increment", "its CPU", "nothing new: run", "build", "commits",
         f"increment / at {scale.scale}x", ratio],
        *([f"{s.scale}x", f"{s.rows:,}", f"{m.full.seconds:.1f}",
           spread([run.seconds for run in m.increments]), f"{m.increment_cpu:.1f}",
           f"{m.idle_run.seconds:.1f}",
           f"{m.idle_build.seconds:.1f}", f"{m.idle_commits}", f"{m.increment / first.increment:.2f}",
           f"{value:.1f}"] for (s, m), value in zip(measured, ratios, strict=True)),
    ]  # fmt: skip


def _ratios(scale: Scale) -> list[float]:
    ours, stock = scale.tidemark, scale.stock
    return [
        ours.increment / stock.increment,
        ours.increment_cpu / stock.increment_cpu,
        ours.full.seconds / stock.full.seconds,
        ours.full.cpu_seconds / stock.full.cpu_seconds,
        ours.idle_build.seconds / stock.idle_build.seconds,
    ]


def _kinds(scale: Scale) -> list[list[str]]:
    """Return the number and seconds of the last increment's statements by kind, for both projects."""
    rows = [["kind", "Tidemark", "seconds", "stock", "seconds"]]
    found = [scale.tidemark.increments[-1].statements, scale.stock.increments[-1].statements]
    for kind in (TESTS, *KINDS, OTHERS):
        cells = [kind]
        for statements in found:
            seconds = [one.seconds for one in statements if _kind(one) == kind]
            cells += [f"{len(seconds)}", f"{sum(seconds):.2f}"]
        rows.append(cells)
    total = ["all"]
    for statements in found:
        total += [f"{len(statements)}", f"{sum(one.seconds for one in statements):.2f}"]
    return [*rows, total]


def _kind(statement: Statement) -> str:
    if statement.node.startswith("test."):
        return TESTS
    return next((kind for kind, beginning in KINDS.items() if re.match(beginning, statement.text)), OTHERS)


def _mebibytes(measured: Measured) -> str:
    return f"{measured.increment_bytes / MEGABYTE:,.1f}"


def _rows(measured: Measured) -> str:
    return f"{median(run.rows_read for run in measured.increments):,.0f}"


def spread(seconds: Sequence[float]) -> str:
    """Return the median, the lowest and the highest of seconds as text."""
    return f"{median(seconds):.1f} ({min(seconds):.1f}..{max(seconds):.1f})"


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table with right-aligned columns."""
    return [f"| {' | '.join(cells)} |" for cells in (header, ["---:"] * len(header), *rows)]


def machine() -> str:
    """Return a description of the machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1024**3
    driver = os.environ.get("TIDEMARK_DRIVER_MEMORY", "")
    return f"{os.cpu_count()} cores, {memory:.0f} GiB of memory ({driver} for Spark), {platform.system()}"


def versions(spark: SparkSession) -> str:
    """Return the versions of the measured software."""
    jvm = spark.sparkContext._jvm
    java = jvm.java.lang.System.getProperty("java.version") if jvm else "?"
    names = ("delta-spark", "dbt-core", "dbt-spark")
    return ", ".join([f"Spark {spark.version}", *(f"{n} {version(n)}" for n in names), f"Java {java}"])
