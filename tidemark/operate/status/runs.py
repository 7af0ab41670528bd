"""The last run, and the tests that fail."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from tidemark.base.clock import utc_time
from tidemark.base.output import count_of, first_of
from tidemark.engine.project import Project
from tidemark.lake.table_format import table_exists
from tidemark.operate.status.level import Level

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COUNTS = (
    "models_written",
    "models_unchanged",
    "models_failed",
    "models_skipped",
    "tests_passed",
    "tests_failed",
)


@dataclass(frozen=True)
class RunStatus:
    """The last dbt command that read or wrote something.

    Attributes:
        run: its invocation id.
        command: build, run, test, seed or snapshot.
        started_at: when it started.
        seconds: how long it took.
        counts: models and tests, by outcome.
        failed_tests: names of the tests that failed.
        level: an error if something failed.
        problem: what failed, in words; empty for nothing.
    """

    run: str
    command: str
    started_at: datetime
    seconds: float
    counts: dict[str, int]
    failed_tests: list[str]
    level: Level
    problem: str


def last_run(spark: SparkSession, project: Project) -> RunStatus | None:
    """Return the last recorded run; None if there is none."""
    runs = f"{project.ops_schema}.runs"
    if not table_exists(spark, runs):
        return None
    times = ("unix_micros(started_at) as started", "unix_micros(ended_at) as ended")
    names = "failed_tests" if "failed_tests" in spark.table(runs).columns else "array() as failed_tests"
    columns = ("invocation_id", "command", "succeeded", names, *COUNTS, *times)
    row: Any = (
        spark.table(runs).selectExpr(*columns).orderBy("started", "invocation_id", ascending=False).first()
    )
    if row is None:
        return None
    counts = {name: row[name] or 0 for name in COUNTS}
    tests = [name.split(".")[2] for name in row["failed_tests"] or []]  # of `test.package.name.hash`
    message = f": {first_of(tests)}" if tests else ""
    failed = [
        count_of(counts[f"{what}s_failed"], what) for what in ("model", "test") if counts[f"{what}s_failed"]
    ]
    return RunStatus(
        row["invocation_id"],
        row["command"],
        utc_time(row["started"]),
        (row["ended"] - row["started"]) / 1e6,
        counts,
        tests,
        Level.OK if row["succeeded"] else Level.ERROR,
        "" if row["succeeded"] else f"{' and '.join(failed) or 'the command'} failed{message}",
    )
