"""Measure whether memory and seconds stay the same over many increments in one warm session.

Run as `python -m benchmarks.endurance` in the project's folder. Each increment lands one file of a day's
events and builds the models of events, as `tidemark run` does. The scratch lake is deleted at the end.
"""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Annotated

import typer
from pyspark.sql import SparkSession
from rich.console import Console

from benchmarks.measuring import LAKE, ROOT, plain_errors, scratch_session
from benchmarks.report import how_measured, markdown_table
from dev.simulators.user_events import simulate_user_events
from tidemark.base.output import output
from tidemark.cli.build import DATA_ONLY, build_models
from tidemark.cli.landing import land
from tidemark.lake.jvm import java_class
from tidemark.project_with_feeds import ProjectWithFeeds

FEED = "user_events"
SELECTED = ("--select", f"source:bronze.{FEED}+", "event_types")
WINDOW = 10  # increments of a line in the report
WARM_UP = 50  # increments until Spark's cache of generated classes (2,000) is full
COLLECTIONS = 3  # of garbage, before the heap is measured
MEBIBYTE = 2**20
console = Console(highlight=False, markup=False)


@dataclass(frozen=True)
class Window:
    """Some increments in a row.

    Attributes:
        last: the number of the last one.
        seconds: their median seconds.
        heap: bytes of the JVM's heap in use after them and after a collection of garbage.
        python: resident bytes of the Python process.
        files: files in the tables' folders.
    """

    last: int
    seconds: float
    heap: int
    python: int
    files: int


def measure(spark: SparkSession, inbox: Path, files: list[Path]) -> list[Window]:
    """Land and build one file after the other.

    Args:
        spark: the session.
        inbox: the feed's folder.
        files: raw files.
    """
    windows, seconds = [], []
    for number, file in enumerate(files, start=1):
        shutil.copy(file, inbox)
        started = time.monotonic()
        with output.console.capture():
            lakehouse = ProjectWithFeeds.load()
            land(spark, lakehouse, [lakehouse.feeds[FEED]])
            build_models([*DATA_ONLY, *SELECTED], lakehouse)
        seconds.append(time.monotonic() - started)
        if number % WINDOW == 0:
            windows.append(Window(number, median(seconds[-WINDOW:]), _heap(spark), _resident(), _files(LAKE)))
            console.print(windows[-1])
    return windows


def _heap(spark: SparkSession) -> int:
    """Return the bytes in use; Spark frees some only after a first collection has found them unused."""
    runtime = java_class(spark, "java.lang.Runtime").getRuntime()
    for _ in range(COLLECTIONS):
        runtime.gc()
        time.sleep(1)
    return int(runtime.totalMemory() - runtime.freeMemory())


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _files(folder: Path) -> int:
    return sum(1 for path in (folder / "warehouse").rglob("*") if path.is_file())


def write(path: Path, spark: SparkSession, windows: list[Window]) -> None:
    """Write the markdown file.

    Args:
        path: the markdown file.
        spark: the measured session.
        windows: the measured increments.
    """
    warm = [window for window in windows if window.last >= WARM_UP]
    growth = {
        name: getattr(warm[-1], name) / getattr(warm[0], name) - 1 for name in ("seconds", "heap", "python")
    }
    rows = [
        [f"{one.last}", f"{one.seconds:.1f}", f"{one.heap / MEBIBYTE:.0f}", f"{one.python / MEBIBYTE:.0f}",
         f"{one.files:,}"]
        for one in windows
    ]  # fmt: skip
    lines = [
        "# Many increments in one session",
        "",
        "Each increment lands one file with a day's events and builds the models of events, with their data",
        "tests. All increments share one session.",
        "",
        *how_measured("python -m benchmarks.endurance", spark),
        "",
        f"From increment {warm[0].last} to {warm[-1].last}, the heap in use after a collection of garbage "
        f"changed by {growth['heap']:+.0%},",
        f"Python's resident memory by {growth['python']:+.0%}, and the median seconds by "
        f"{growth['seconds']:+.0%}.",
        "",
        *markdown_table(["increment", "median s", "heap, MiB", "Python, MiB", "files in the lake"], rows),
        "",
        "The files grow with the commits. `tidemark maintain` removes them.",
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(
    increments: Annotated[int, typer.Option(min=WARM_UP, help="Number of increments.")] = 100,
    out: Annotated[Path, typer.Option(help="The markdown file.")] = ROOT / "docs/benchmarks/endurance.md",
) -> None:
    """Measure, print, and write the markdown file."""
    os.environ |= {"TIDEMARK_LAKE": str(LAKE), "TIDEMARK_RAW": str(LAKE / "inbox")}
    os.chdir(ROOT)
    with plain_errors():
        ProjectWithFeeds.load()
        with scratch_session() as spark:
            inbox = LAKE / "inbox" / FEED
            inbox.mkdir(parents=True)
            simulate_user_events(LAKE / "days", days=increments)
            windows = measure(spark, inbox, sorted((LAKE / "days").glob("*.csv")))
            write(out, spark, windows)


if __name__ == "__main__":
    typer.run(main)
