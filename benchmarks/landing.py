"""Measure landing against Spark's plain copy of the same files, and planning among many known files.

Run as `python -m benchmarks.landing` in the project's folder. Files and lake are scratch, deleted at the end.
"""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Annotated

import typer
from pyspark.sql import SparkSession
from rich.console import Console

from benchmarks.report import machine, markdown_table, versions
from python_ingest.clock import utc_now
from python_ingest.declarations import FileFeed, feeds_of
from python_ingest.landing import Lander
from python_ingest.manifest import Manifest
from python_ingest.project import invoke_dbt
from python_ingest.session import warm_session
from python_ingest.storage import Storage

ROOT = Path(__file__).resolve().parent.parent
LAKE = ROOT / "lake-benchmark"
COLUMNS = ("order_id", "customer_id", "order_date", "quantity", "amount", "address", "channel", "updated_at")
HEADER = ",".join(COLUMNS) + "\n"
LINES = 100_000
MEGABYTE = 1_000_000
console = Console(highlight=False)


@dataclass
class Case:
    """Files of one shape, and what copying and landing them took.

    Attributes:
        name: what they are.
        size: bytes of all of them.
        plain, landed: seconds, one a repetition.
        peak: highest resident memory of the JVM while landing, in MB.
    """

    name: str
    size: int
    plain: list[float]
    landed: list[float]
    peak: float = 0.0

    def row(self) -> list[str]:
        plain, landed = median(self.plain), median(self.landed)
        return [
            self.name,
            f"{self.size / MEGABYTE:,.0f}",
            f"{plain:.1f}",
            f"{landed:.1f}",
            f"{self.size / MEGABYTE / plain:.1f}",
            f"{self.size / MEGABYTE / landed:.1f}",
            f"{plain / landed:.2f}",
            f"{self.peak:,.0f}",
        ]


def feed_at(folder: Path, name: str) -> FileFeed:
    """Declare the files of a folder as a feed in schemas of its own."""
    node = {
        "name": name,
        "schema": f"{name}_bronze",
        "original_file_path": "benchmarks/landing.py",
        "external": {"location": str(folder), "file_format": "csv"},
        "columns": {column: {"name": column, "data_type": "string"} for column in COLUMNS},
    }
    feed = feeds_of([node])[name]
    assert isinstance(feed, FileFeed)  # noqa: S101
    return feed


def measure(spark: SparkSession, name: str, folder: Path, repetitions: int) -> Case:
    """Copy and land the files of a folder, in turn."""
    case = Case(name, sum(file.stat().st_size for file in folder.iterdir()), [], [])
    for number in range(repetitions):
        case.plain.append(_timed(lambda: _copy(spark, folder)))
        feed = feed_at(folder, f"landed_{folder.name}_{number}")
        _forget_peak(spark)
        case.landed.append(_timed(lambda feed=feed: Lander(spark, feed, f"{feed.name}_ops").land()))  # type: ignore[misc]
        case.peak = max(case.peak, _peak(spark))
        for schema in (feed.schema_name, f"{feed.name}_ops", "plain"):
            spark.sql(f"drop schema if exists {schema} cascade")
        console.print(f"  {name}: plain {case.plain[-1]:.1f} s, landed {case.landed[-1]:.1f} s")
    return case


def planning(spark: SparkSession, folder: Path, known: int, new: int) -> list[str]:
    """Measure how long it takes to find the new files among the known ones."""
    feed = feed_at(folder, f"planned_{known}")
    for number in range(known + new):
        if number % 1000 == 0:
            (folder / f"{number // 1000:05d}").mkdir(parents=True)
        (folder / f"{number // 1000:05d}" / f"{number:07d}.csv").touch()
    storage = Storage(spark, feed)
    Manifest(spark, f"{feed.name}_ops", feed.name)  # creates the table
    landed = storage.listing(utc_now()).where(f"path < '{known // 1000:05d}'")
    landed.selectExpr(
        f"'{feed.name}' as feed", "path", "size", "modified_at", "'' as checksum", "'landed' as state",
        "'' as reason", "1L as batch_id", "0L as row_count", "modified_at as recorded_at", "1L as _sequence",
    ).write.format("delta").mode("append").saveAsTable(f"{feed.name}_ops.ingested_files")  # fmt: skip

    def plan() -> None:
        found = Manifest(spark, f"{feed.name}_ops", feed.name).compare(storage.listing(utc_now())).candidates
        if len(found) != new:
            raise AssertionError(f"{len(found)} files are new, not {new}")

    seconds = median([_timed(plan) for _ in range(2)])
    shutil.rmtree(folder)
    console.print(f"  planning among {known:,} known files: {seconds:.1f} s")
    return [f"{known:,}", f"{new:,}", f"{seconds:.1f}"]


def _copy(spark: SparkSession, folder: Path) -> None:
    spark.sql("create schema if not exists plain")
    files = spark.read.schema(", ".join(f"{c} string" for c in COLUMNS)).option("header", True)
    files.csv(str(folder)).write.format("delta").saveAsTable("plain.copied")


def _timed(work: Callable[[], object]) -> float:
    started = time.monotonic()
    work()
    return time.monotonic() - started


def _forget_peak(spark: SparkSession) -> None:
    Path(f"/proc/{_process(spark)}/clear_refs").write_text("5")


def _peak(spark: SparkSession) -> float:
    status = Path(f"/proc/{_process(spark)}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1000


def _process(spark: SparkSession) -> int:
    return int(spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid())  # type: ignore[union-attr]


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
    repetitions: Annotated[int, typer.Option(help="Copies and landings of each kind.")] = 2,
    out: Annotated[Path, typer.Option(help="The markdown file.")] = ROOT / "docs/benchmarks/landing.md",
) -> None:
    """Measure, print, and write the markdown file."""
    os.environ.setdefault("TIDEMARK_DRIVER_MEMORY", "4g")
    os.environ["TIDEMARK_LAKE"] = str(LAKE)
    os.chdir(ROOT)
    command = f"python -m benchmarks.landing --gigabytes {gigabytes:g} --files {files} --known {known}"
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
        plans = [planning(spark, raw / f"known_{n}", int(n), files) for n in known.split(",")]
        lines = [
            "# Landing, against a plain copy",
            "",
            "The plain copy is `spark.read.csv(folder).write.format('delta')`, declared columns only;",
            "landing adds listing, checksums, the manifest, headers by name, broken records, eight columns.",
            "",
            f"Measured by `{command}` on {machine()}, with {versions(spark)}. Medians of {repetitions}.",
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
                    "peak MB",
                ],
                [case.row() for case in cases],
            ),
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
