"""Measure a plain copy and a landing of the same rows in turn, and the seconds of each landing step."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.classic.dataframe import DataFrame
from rich.console import Console

from benchmarks.report import markdown_table, spread
from python_ingest.bronze.table import BronzeTable
from python_ingest.feeds.declarations import feeds_of
from python_ingest.ops.ingested_batches import Batches

LAKE = Path(__file__).resolve().parent.parent / "lake-benchmark"
MEGABYTE = 1_000_000
ASKED = 0.85
APPEND = "append: read, decode, write"
Steps = Mapping[str, tuple[Any, str]]
STATE = {"state table, made and read": (Batches, "__init__"), "bronze table, made": (BronzeTable, "prepare")}
BATCH = {
    "highest batch in bronze": (BronzeTable, "last_batch"),
    APPEND: (BronzeTable, "append"),
    "count of the batch, by partition": (DataFrame, "collect"),
    "count of the batch": (DataFrame, "count"),
    "state: planned": (Batches, "plan"),
    "state: landed": (Batches, "confirm"),
    "state: checked": (Batches, "check"),
}
console = Console(highlight=False, markup=False)


def feed_of(name: str, columns: Mapping[str, str], **external: Any) -> Any:
    """Declare a feed in its own schemas."""
    typed = {column: {"name": column, "data_type": of} for column, of in columns.items()}
    node = {"name": name, "schema": f"{name}_bronze", "original_file_path": __file__, "columns": typed}
    return feeds_of([node | {"external": external}])[name]


@dataclass
class Pairs:
    """Copies and landings of the same rows.

    Attributes:
        plain, landed: seconds, one value per repetition.
        profiles: seconds of each landing, by step.
        peaks: peak resident memory of the JVM in each landing, in MB.
    """

    plain: list[float] = field(default_factory=list)
    landed: list[float] = field(default_factory=list)
    profiles: list[dict[str, float]] = field(default_factory=list)
    peaks: list[float] = field(default_factory=list)

    def steps(self) -> dict[str, float]:
        """Return the median seconds of each step of a landing."""
        return {step: median(profile[step] for profile in self.profiles) for step in self.profiles[0]}

    def report(self, what: str, unit: str, amount: float) -> list[str]:
        """Return the report's lines: the measured and the required speed, and the seconds of each step."""
        plain, landed = median(self.plain), median(self.landed)
        steps = self.steps()
        speeds = [f"{amount / plain:,.1f}", f"{amount / landed:,.1f}", f"{plain / landed:.2f}"]
        message = f"Target: at least {ASKED} of the plain copy's speed; measured {plain / landed:.2f}"
        if plain / landed < ASKED:
            message += (
                f" (missed). The append alone runs at {plain / steps[APPEND]:.2f} of the plain copy's speed; "
                f"the other steps take {landed - steps[APPEND]:.1f} s"
            )
        shown = [[step, f"{s:.2f}", f"{s / plain:.1%}"] for step, s in steps.items() if s >= 0.005]
        return [
            *markdown_table(
                ["what", "plain s", "landing s", f"plain {unit}", f"landing {unit}", "landing / plain"],
                [[what, spread(self.plain), spread(self.landed), *speeds]],
            ),
            "",
            f"{message}.",
            "",
            *markdown_table(["step of a landing", "seconds", "of the plain copy"], shown),
        ]


def compared(  # noqa: PLR0913
    spark: SparkSession,
    kind: str,
    plain: Callable[[], object],
    land: Callable[[str], object],
    *,
    steps: Steps,
    repetitions: int,
) -> Pairs:
    """Copy and land the same rows in turn, each into new tables.

    Args:
        spark: the session.
        kind: the prefix of the feeds' names; each landing uses a new feed.
        plain: creates `plain.copied`.
        land: lands the feed with the given name.
        steps: the timed functions of a landing: an owner and the name of its function.
        repetitions: number of copies and landings.
    """
    pairs = Pairs()
    for number in range(repetitions):
        name = f"{kind}_{number}"
        spark.sql("create schema plain")
        pairs.plain.append(timed(plain))
        memory = Path(f"/proc/{_process(spark)}")
        (memory / "clear_refs").write_text("5")  # reset the peak
        with timed_steps(steps) as seconds:
            pairs.landed.append(timed(lambda name=name: land(name)))  # type: ignore[misc]
        peak = (memory / "status").read_text().split("VmHWM:")[1].split()[0]
        pairs.peaks.append(int(peak) / 1000)
        pairs.profiles.append(seconds | {"the rest": pairs.landed[-1] - sum(seconds.values())})
        copied, landed = spark.table("plain.copied").count(), spark.table(f"{name}_bronze.{name}").count()
        if copied != landed:
            raise AssertionError(f"{copied} rows were copied, {landed} landed")
        for schema in ("plain", f"{name}_bronze", f"{name}_ops"):
            spark.sql(f"drop schema {schema} cascade")
        console.print(f"  {kind}: plain {pairs.plain[-1]:.1f} s, landed {pairs.landed[-1]:.1f} s")
    return pairs


@contextmanager
def timed_steps(steps: Steps) -> Iterator[dict[str, float]]:
    """Collect the seconds of calls by step; a call inside another step counts for the outer step."""
    seconds: dict[str, float] = dict.fromkeys(steps, 0.0)
    originals = {step: getattr(*place) for step, place in steps.items()}
    inside: list[str] = []

    def timed(step: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            if inside:
                return original(*arguments, **named)
            inside.append(step)
            started = time.monotonic()
            try:
                return original(*arguments, **named)
            finally:
                seconds[step] += time.monotonic() - started
                inside.clear()

        return call

    for step, place in steps.items():
        setattr(*place, timed(step, originals[step]))
    try:
        yield seconds
    finally:
        for step, place in steps.items():
            setattr(*place, originals[step])


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that a call takes."""
    started = time.monotonic()
    work()
    return time.monotonic() - started


def _process(spark: SparkSession) -> int:
    return int(spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid())  # type: ignore[union-attr]
