"""The page of the peers: the measured seconds, their plot, and from which size on Tidemark is ahead."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from textwrap import wrap

from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

from benchmarks.curves import ahead_from, plot
from benchmarks.measuring import Run, Statement
from benchmarks.projects import DUCKDB, FULL, MEANINGS, STOCK, TIDEMARK, TITLES
from benchmarks.report import how_measured, markdown_table, spread

MEBIBYTE = 1024 * 1024
KINDS = {  # by the beginning of the statement
    "MERGE": "merge",
    "outcomes: computed and counted": "cache lazy table|select __tidemark_outcome",
    "values to prune by": r"select count\(\*\) as number|select 1 as one",
    "temporary views": "create or replace temporary view",
    "marks read": "select newest",
    "run recorded": "insert",
    "catalog": "show|describe",
}
TESTS, OTHERS = "data tests", "others: the query's columns"
ABOUT = """
The same increment, and the same run with nothing new, by Tidemark and four peers over histories of several
sizes. They build a silver table by day that keeps the newest row of each order, and two gold tables: sales
by day and by customer. An increment is new orders on the last day and as many updates of the last two days'
orders. Seconds are wall time in one warm process, the median (fastest..slowest). The peers run in turns,
and each time another one is first. The peers with dbt run `dbt build` with data tests of keys and NULLs;
Tidemark also adds up its gold tables and compares the sums with silver. At the end of each size all tables
are compared with plain SQL over bronze. At the first size one more increment follows, whose rows arrive
late: a watermark on `updated_at` misses them.
"""


@dataclass
class Measured:
    """The cost of one peer at one scale.

    Attributes:
        load: the first build.
        increments: the builds after each increment.
        idle: the builds with nothing new.
        commits: Delta commits of the builds with nothing new, including checkpoints; None without Delta.
        differing: number of rows that differ from the truth at the end.
        late: the same after one more increment, of rows that arrive late; None if it was not tried.
    """

    load: Run
    increments: list[Run]
    idle: list[Run]
    commits: int | None
    differing: int
    late: int | None = None

    @property
    def increment(self) -> float:
        """The median seconds of an increment."""
        return median(run.seconds for run in self.increments)

    @property
    def nothing_new(self) -> float:
        """The median seconds with nothing new."""
        return median(run.seconds for run in self.idle)


@dataclass
class Scale:
    """All peers at one scale, by name; Tidemark is the first."""

    scale: int
    rows: int
    increment_rows: int
    peers: dict[str, Measured]


CURVES: dict[str, Callable[[Measured], float]] = {
    "an increment": lambda measured: measured.increment,
    "nothing new": lambda measured: measured.nothing_new,
}


def tables(scales: Sequence[Scale]) -> dict[str, list[list[str]]]:
    """Return the tables by title; the first row of each is its header."""
    found = {"From which size on Tidemark is ahead": _ahead(scales)}
    for scale in scales:
        found[f"{scale.rows:,} rows of history, {scale.increment_rows:,} changed"] = _seconds(
            scale, scales[0]
        )
    late = {TITLES[name]: one.late for name, one in scales[0].peers.items() if one.late is not None}
    if late:
        found["Rows that differ after an increment whose rows arrive late"] = [
            list(late),
            [f"{rows:,}" for rows in late.values()],
        ]
    found["Read by one increment, tests included"] = _reads(scales)
    found[f"Statements of an increment at {scales[0].scale}x, by kind"] = _kinds(scales[0])
    return found


def summary(scales: Sequence[Scale]) -> str:
    """Return sentences with the ratios of the largest scale."""
    first, last = scales[0], scales[-1]
    ours, before = last.peers[TIDEMARK], first.peers[TIDEMARK]
    others = [
        f"{one.increment / ours.increment:.2f} times as long by {TITLES[name]}"
        for name, one in last.peers.items()
        if name != TIDEMARK
    ]
    text = (
        f"In short, at {last.rows:,} rows: an increment of Tidemark takes {ours.increment:.1f} s; with "
        f"nothing new a build takes {ours.nothing_new:.1f} s and makes {ours.commits} commits."
    )
    if len(scales) > 1:
        text += (
            f" The increment takes {ours.increment / before.increment:.2f} times the seconds, and reads "
            f"{_bytes(ours) / _bytes(before):.2f} times the bytes, of one at {first.rows:,} rows."
        )
    return f"{text} The same increment takes {', '.join(others)}." if others else text


def write(path: Path, command: str, spark: SparkSession, scales: Sequence[Scale]) -> None:
    """Write the markdown file and its plot, and print the tables.

    Args:
        path: the markdown file; the plot has its name with the ending `.svg`.
        command: the command that reproduces the numbers.
        spark: the measured session.
        scales: the scales measured so far.
    """
    names = list(scales[0].peers)
    picture = path.with_suffix(".svg")
    panels = {
        title: {TITLES[name]: [seconds(scale.peers[name]) for scale in scales] for name in names}
        for title, seconds in CURVES.items()
    }
    plot(picture, [scale.rows for scale in scales], panels, "million rows of history")
    more = ("dbt-duckdb", "duckdb") if DUCKDB in names else ()
    lines = ["# Tidemark and its peers", ""]
    for paragraph in (ABOUT, " ".join(how_measured(command, spark, *more)), summary(scales)):
        lines += [*wrap(paragraph.strip(), 120, break_long_words=False, break_on_hyphens=False), ""]
    lines += [f"![Seconds over rows of history]({picture.name})", ""]
    lines += [
        *markdown_table(["peer", "what it is"], [[TITLES[n], MEANINGS[n]] for n in names], align=":---")
    ]
    for title, (header, *rows) in tables(scales).items():
        lines += ["", f"## {title}", "", *markdown_table(header, rows)]
        table = Table(title=title, title_justify="left", box=None, pad_edge=False)
        for name in header:
            table.add_column(name, justify="right")
        for row in rows:
            table.add_row(*row)
        Console(width=160).print(table, "")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _ahead(scales: Sequence[Scale]) -> list[list[str]]:
    """Return, for each peer, the sizes at which it is the faster, and the size from which on Tidemark is."""
    rows = [
        [
            "peer",
            *(f"{title}: {what}" for title in CURVES for what in ("peer ahead at", "Tidemark ahead from")),
        ]
    ]
    sizes = [scale.rows for scale in scales]
    for name in [name for name in scales[0].peers if name != TIDEMARK]:
        cells = [TITLES[name]]
        for seconds in CURVES.values():
            ours = [seconds(scale.peers[TIDEMARK]) for scale in scales]
            theirs = [seconds(scale.peers[name]) for scale in scales]
            wins = [f"{s:,}" for s, our, their in zip(sizes, ours, theirs, strict=True) if their <= our]
            size = ahead_from(sizes, ours, theirs)
            cell = f"not up to {sizes[-1]:,}" if size is None else f"{float(f'{size:.2g}'):,.0f} rows"
            cell = "every size" if size == sizes[0] else cell
            if any(scale.peers[name].differing for scale in scales):
                wins, cell = ["its tables differ"], "–"
            cells += ["; ".join(wins) or "no size", cell]
        rows.append(cells)
    return rows


def _seconds(scale: Scale, first: Scale) -> list[list[str]]:
    ours = scale.peers[TIDEMARK]
    rows = [["peer", "first load", "increment", "its CPU", "nothing new", "its CPU", "commits",
             "increment / Tidemark's", f"increment / at {first.scale}x", "first load / increment",
             "rows differing from the truth"]]  # fmt: skip
    for name, one in scale.peers.items():
        rows.append([
            TITLES[name], f"{one.load.seconds:.1f}",
            spread([run.seconds for run in one.increments]), _cpu(one.increments),
            spread([run.seconds for run in one.idle]), _cpu(one.idle),
            "–" if one.commits is None else f"{one.commits}",
            f"{one.increment / ours.increment:.2f}", f"{one.increment / first.peers[name].increment:.2f}",
            f"{one.load.seconds / one.increment:.1f}", f"{one.differing:,}",
        ])  # fmt: skip
    return rows


def _reads(scales: Sequence[Scale]) -> list[list[str]]:
    """Return the bytes and rows that Spark's tasks read; those of DuckDB are not known."""
    names = [name for name in scales[0].peers if name != DUCKDB]
    rows = [["rows of history", *(f"{TITLES[name]} {unit}" for name in names for unit in ("MiB", "rows"))]]
    for scale in scales:
        cells = [f"{scale.rows:,}"]
        for one in (scale.peers[name] for name in names):
            read = median(run.rows_read for run in one.increments)
            cells += [f"{_bytes(one) / MEBIBYTE:,.1f}", f"{read:,.0f}"]
        rows.append(cells)
    return rows


def _kinds(scale: Scale) -> list[list[str]]:
    """Return the number and seconds of the last increment's statements by kind, for dbt on Spark."""
    names = [name for name in (TIDEMARK, STOCK, FULL) if name in scale.peers]
    rows = [["kind", *(cell for name in names for cell in (TITLES[name], "seconds"))]]
    found = [scale.peers[name].increments[-1].statements for name in names]
    for kind in (TESTS, *KINDS, OTHERS, "all"):
        cells = [kind]
        for statements in found:
            seconds = [one.seconds for one in statements if kind in ("all", _kind(one))]
            cells += [f"{len(seconds)}", f"{sum(seconds):.2f}"]
        rows.append(cells)
    return rows


def _kind(statement: Statement) -> str:
    if statement.node.startswith("test."):
        return TESTS
    return next((kind for kind, beginning in KINDS.items() if re.match(beginning, statement.text)), OTHERS)


def _cpu(runs: Sequence[Run]) -> str:
    return f"{median(run.cpu_seconds for run in runs):.1f}"


def _bytes(measured: Measured) -> float:
    return median(run.bytes_read for run in measured.increments)
