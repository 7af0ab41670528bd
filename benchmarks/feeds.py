"""Measure how much sooner feeds land side by side than one after another.

Run as `python -m benchmarks.feeds` in the project's folder. Files and lake are deleted at the end.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import median
from typing import Annotated

import typer
from pyspark.sql import SparkSession

from benchmarks.measuring import LAKE, ROOT, Run, cost_of, plain_errors, scratch_session
from benchmarks.pairs import console, feed_of
from benchmarks.report import how_measured, markdown_table, spread
from python_ingest.feeds.declarations import Feed
from python_ingest.land import land_each
from python_ingest.land_one import LandingOptions
from tidemark.base.output import output

ROWS = 500  # of a file
AT_ONCE = (1, 2, 4)
WARM = 2  # rounds before the measured ones
NEW, NOTHING = "a new file of 500 rows for each", "nothing new"


@dataclass
class Feeds:
    """Feeds of small CSV files.

    Args:
        folder: where the files are.
        number: how many feeds.
    """

    folder: Path
    number: int
    _files: count[int] = field(default_factory=count)

    @property
    def declared(self) -> list[Feed]:
        """The feeds, each in schemas of its own; the state tables are in another schema, for all."""
        columns = dict.fromkeys(("id", "name"), "string")
        names = [f"feed_{number}" for number in range(self.number)]
        return [feed_of(name, columns, location=str(self.folder / name), file_format="csv") for name in names]

    def arrive(self) -> None:
        """Write a new file for each feed."""
        file = next(self._files)
        for feed in self.declared:
            (self.folder / feed.name).mkdir(parents=True, exist_ok=True)
            lines = ["id,name", *(f"{file}-{row},Ada" for row in range(ROWS))]
            (self.folder / feed.name / f"{file:04}.csv").write_text("\n".join(lines) + "\n")

    def land(self, spark: SparkSession, at_once: int) -> Run:
        """Land the feeds, and return the cost.

        Raises:
            TidemarkError: if one of them failed.
        """

        def land() -> None:
            options = LandingOptions(at_once=at_once)
            with output.console.capture():
                _, failed = land_each(spark, "feeds_ops", self.declared, options=options)
            for error in failed.values():
                raise error

        return cost_of(spark, land)


def measure(spark: SparkSession, feeds: Feeds, repetitions: int) -> dict[tuple[str, int], list[Run]]:
    """Land in turn with each number side by side: new files, then nothing new.

    Args:
        spark: the session.
        feeds: the feeds.
        repetitions: rounds that count.
    """
    runs: dict[tuple[str, int], list[Run]] = {(what, n): [] for what in (NEW, NOTHING) for n in AT_ONCE}
    for number in range(WARM + repetitions):
        for at_once in AT_ONCE:
            feeds.arrive()
            for what in (NEW, NOTHING):
                run = feeds.land(spark, at_once)
                console.print(
                    f"  {what}, {at_once} at once: {run.seconds:.1f} s, {run.cpu_seconds:.1f} CPU s"
                )
                if number >= WARM:
                    runs[what, at_once].append(run)
    rows = {spark.table(feed.table).count() for feed in feeds.declared}
    if rows != {ROWS * (WARM + repetitions) * len(AT_ONCE)}:
        raise AssertionError(f"the feeds have {rows} rows")
    return runs


def write(path: Path, spark: SparkSession, feeds: Feeds, runs: dict[tuple[str, int], list[Run]]) -> None:
    """Write the markdown file.

    Args:
        path: the markdown file.
        spark: the measured session.
        feeds: the measured feeds.
        runs: the measured landings.
    """
    rows = []
    for (what, at_once), measured in runs.items():
        alone = median(run.seconds for run in runs[what, 1])
        seconds = [run.seconds for run in measured]
        processor = [run.cpu_seconds for run in measured]
        rows.append(
            [what, f"{at_once}", spread(seconds), f"{median(seconds) / alone:.2f}", spread(processor)]
        )
    lines = [
        "# Feeds side by side",
        "",
        f"{feeds.number} feeds of small CSV files on a warm session, in turn with each number at once.",
        "",
        *how_measured("python -m benchmarks.feeds", spark),
        "",
        *markdown_table(["landing", "at once", "seconds", "of one after another", "processor seconds"], rows),
        "",
        "The number is the target's `threads`. A small landing is many short steps, most of which use one",
        "core; side by side they fill the others. More at once than there are cores helps feeds that wait",
        "for a store, a database or a broker.",
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    console.print("\n".join(lines), markup=False)


def main(
    feeds: Annotated[int, typer.Option(min=2, help="Number of feeds.")] = 8,
    repetitions: Annotated[int, typer.Option(min=1, help="Measured rounds.")] = 5,
    out: Annotated[Path, typer.Option(help="The markdown file.")] = ROOT / "docs/benchmarks/feeds.md",
) -> None:
    """Measure, print, and write the markdown file."""
    os.environ["TIDEMARK_LAKE"] = str(LAKE)
    os.chdir(ROOT)
    with plain_errors(), scratch_session() as spark:
        made = Feeds(LAKE / "raw", feeds)
        write(out, spark, made, measure(spark, made, repetitions))


if __name__ == "__main__":
    typer.run(main)
