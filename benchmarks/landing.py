"""Compare landing with Spark's plain copy of the same files, and measure planning among many known files.

Run as `python -m benchmarks.landing` in the project's folder. Files and lake are deleted at the end.
"""

from __future__ import annotations

import os
import random
import shutil
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Annotated

import typer
from pyspark.sql import SparkSession

from benchmarks.pairs import APPEND, LAKE, MEGABYTE, Pairs, compared, console, feed_of, timed
from benchmarks.report import how_measured, markdown_table, spread
from python_ingest.bronze.lost_rows import LostRows
from python_ingest.bronze.table import BronzeTable
from python_ingest.feeds.declarations import FileFeed
from python_ingest.files.contents import Contents
from python_ingest.files.landing import Lander
from python_ingest.files.storage import Storage
from python_ingest.ops.ingested_files import IngestedFiles
from tidemark.base.clock import utc_now
from tidemark.engine.dbt_core.commands import invoke_dbt
from tidemark.engine.project.session import warm_session

ROOT = Path(__file__).resolve().parent.parent
COLUMNS = ("order_id", "customer_id", "order_date", "quantity", "amount", "address", "channel", "updated_at")
HEADER = ",".join(COLUMNS) + "\n"
LINES = 100_000
WARM = 10  # landings before the measured ones
STEPS = {
    "state table, made and read": (IngestedFiles, "__init__"),
    "bronze table, made": (BronzeTable, "prepare"),
    "new files found": (IngestedFiles, "compare"),
    "bronze compared with its commits": (LostRows, "doubt"),
    "large files: checksum and first bytes": (Contents, "_streamed"),
    "large files: lines like the header": (Contents, "_with_lines"),
    "small files: the same": (Contents, "_small_contents"),
    "files of the batch, listed for reading": (Lander, "_rows"),
    APPEND: (BronzeTable, "append"),
    "rows counted by file": (BronzeTable, "counts"),
    "state: planned, landed": (IngestedFiles, "note"),
}


@dataclass
class Case:
    """Files of one kind, and the measured copies and landings.

    Attributes:
        name: the kind of files.
        size: the size of all files in bytes.
        pairs: the copies and landings.
    """

    name: str
    size: int
    pairs: Pairs

    def row(self) -> list[str]:
        plain, landed = median(self.pairs.plain), median(self.pairs.landed)
        return [
            self.name,
            f"{self.size / MEGABYTE:,.0f}",
            spread(self.pairs.plain),
            spread(self.pairs.landed),
            f"{self.size / MEGABYTE / plain:.1f}",
            f"{self.size / MEGABYTE / landed:.1f}",
            f"{plain / landed:.2f}",
            f"{plain / self.pairs.steps()[APPEND]:.2f}",
            f"{max(self.pairs.peaks):,.0f}",
        ]


def feed_at(folder: Path, name: str) -> FileFeed:
    """Declare the files of a folder as a feed in its own schemas."""
    columns = dict.fromkeys(COLUMNS, "string")
    feed: FileFeed = feed_of(name, columns, location=str(folder), file_format="csv")
    return feed


def measure(spark: SparkSession, name: str, folder: Path, repetitions: int) -> Case:
    """Copy and land the files of a folder, in turn."""

    def land(feed: str) -> None:
        Lander(spark, feed_at(folder, feed), f"{feed}_ops").land()

    size = sum(file.stat().st_size for file in folder.iterdir())
    copy = partial(_copy, spark, folder)
    return Case(name, size, compared(spark, folder.name, copy, land, steps=STEPS, repetitions=repetitions))


def arrivals(spark: SparkSession, folder: Path, number: int) -> list[list[str]]:
    """Land one small file at a time for a warm feed, and each time land again without new files."""
    folder.mkdir(parents=True)
    text = HEADER + "".join(_lines()[:125])
    seconds: dict[str, list[float]] = {"one new file, 10 kB": [], "nothing new": []}
    for arrival in range(WARM + number):
        (folder / f"orders_{arrival:04d}.csv").write_text(text)
        for taken in seconds.values():
            lander = partial(Lander, spark, feed_at(folder, "arriving"), "arriving_ops")
            took = timed(lambda lander=lander: lander().land())  # type: ignore[misc]
            if arrival >= WARM:
                taken.append(took)
    return [[what, spread(taken)] for what, taken in seconds.items()]


def planning(spark: SparkSession, folder: Path, known: int, new: int) -> list[str]:
    """Measure the time to find the new files among the known ones."""
    feed = feed_at(folder, f"planned_{known}")
    for number in range(known + new):
        if number % 1000 == 0:
            (folder / f"{number // 1000:05d}").mkdir(parents=True)
        (folder / f"{number // 1000:05d}" / f"{number:07d}.csv").touch()
    storage = Storage(spark, feed)
    IngestedFiles(spark, f"{feed.name}_ops", feed.name)  # creates the table
    landed = storage.listing(utc_now()).where(f"path < '{known // 1000:05d}'")
    landed.selectExpr(
        f"'{feed.name}' as feed", "path", "size", "modified_at", "'' as checksum", "'landed' as state",
        "'' as reason", "1L as batch_id", "0L as row_count", "modified_at as recorded_at", "1L as _sequence",
    ).write.format("delta").mode("append").saveAsTable(f"{feed.name}_ops.ingested_files")  # fmt: skip

    def plan() -> None:
        known_files = IngestedFiles(spark, f"{feed.name}_ops", feed.name)
        found = known_files.compare(storage.listing(utc_now())).candidates
        if len(found) != new:
            raise AssertionError(f"{len(found)} files are new, not {new}")

    seconds = median([timed(plan) for _ in range(2)])
    shutil.rmtree(folder)
    console.print(f"  planning among {known:,} known files: {seconds:.1f} s")
    return [f"{known:,}", f"{new:,}", f"{seconds:.1f}"]


def _copy(spark: SparkSession, folder: Path) -> None:
    files = spark.read.schema(", ".join(f"{c} string" for c in COLUMNS)).option("header", True)
    files.csv(str(folder)).write.format("delta").saveAsTable("plain.copied")


def _lines() -> list[str]:
    chance = random.Random(1)
    return [
        f"{n},{chance.randrange(10**6)},2025-{chance.randrange(1, 13):02d}-{chance.randrange(1, 29):02d},"
        f'{chance.randrange(1, 50)},{chance.random() * 1000:.2f},"Street {chance.randrange(900)}, Bonn",web,'
        f"2025-01-01T10:{chance.randrange(60):02d}:00Z\n"
        for n in range(LINES)
    ]


def _large(folder: Path, gigabytes: float) -> Path:
    folder.mkdir(parents=True)
    block = "".join(_lines())
    repeated = block * (128 * MEGABYTE // len(block))
    for number in range(max(1, round(gigabytes * 1000 * MEGABYTE / len(repeated)))):
        (folder / f"orders_{number:04d}.csv").write_text(HEADER + repeated)
    return folder


def _small(folder: Path, count: int) -> Path:
    folder.mkdir(parents=True)
    lines = _lines()
    for number in range(count):
        start = number * 125 % (LINES - 125)
        (folder / f"orders_{number:06d}.csv").write_text(HEADER + "".join(lines[start : start + 125]))
    return folder


def main(
    gigabytes: Annotated[float, typer.Option(help="Size of the large files, all together.")] = 1.0,
    files: Annotated[int, typer.Option(help="Number of small files.")] = 10_000,
    known: Annotated[str, typer.Option(help="Numbers of known files to plan among.")] = "10000,1000000",
    repetitions: Annotated[int, typer.Option(help="Copies and landings of each kind.")] = 3,
    out: Annotated[Path, typer.Option(help="The markdown file.")] = ROOT / "docs/benchmarks/landing.md",
) -> None:
    """Measure, print, and write the markdown file."""
    os.environ.setdefault("TIDEMARK_DRIVER_MEMORY", "4g")
    os.environ["TIDEMARK_LAKE"] = str(LAKE)
    os.chdir(ROOT)
    command = (
        f"python -m benchmarks.landing --gigabytes {gigabytes:g} --files {files} --known {known} "
        f"--repetitions {repetitions}"
    )
    invoke_dbt(["--quiet", "parse"])
    spark = warm_session(ROOT, empty=True)
    try:
        raw = LAKE / "raw"
        measure(spark, "warm-up", _small(raw / "warm", 50), 2)
        cases = [
            measure(spark, f"large files, {gigabytes:g} GB", _large(raw / "large", gigabytes), repetitions),
            measure(spark, f"{files:,} small files", _small(raw / "small", files), repetitions),
            measure(spark, f"large files, {4 * gigabytes:g} GB", _large(raw / "larger", 4 * gigabytes), 1),
        ]
        small = arrivals(spark, raw / "arriving", 5 * repetitions)
        plans = [planning(spark, raw / f"known_{n}", int(n), files) for n in known.split(",")]
        lines = [
            "# Landing, against a plain copy",
            "",
            "The plain copy is `spark.read.csv(folder).write.format('delta')`, declared columns only;",
            "landing adds listing, checksums, state, headers by name, broken records, eight columns.",
            "`append alone` compares the plain copy with that step of the landing which reads, checks and",
            "writes rows.",
            "",
            *how_measured(command, spark),
            "",
            *markdown_table(
                [
                    "files",
                    "MB",
                    "plain s",
                    "landing s",
                    "plain MB/s",
                    "landing MB/s",
                    "landing / plain",
                    "append alone",
                    "peak MB",
                ],
                [case.row() for case in cases],
            ),
            "",
            "## Where a landing's seconds go",
            "",
            *markdown_table(
                ["step", *(case.name for case in cases)],
                [
                    [step, *(f"{case.pairs.steps()[step]:.2f}" for case in cases)]
                    for step in cases[0].pairs.steps()
                ],
            ),
            "",
            "## Files that arrive",
            "",
            *markdown_table(["landing, on a warm session", "seconds"], small),
            "",
            "## Planning",
            "",
            *markdown_table(["known files", "new files", "seconds"], plans),
        ]
        out.write_text("\n".join(lines) + "\n", encoding="utf-8")
        console.print("\n".join(lines), markup=False)
    finally:
        spark.stop()
        shutil.rmtree(LAKE, ignore_errors=True)


if __name__ == "__main__":
    typer.run(main)
