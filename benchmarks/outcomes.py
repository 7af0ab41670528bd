"""What the models of a benchmark came to: how they were brought up to date, and whether that was right."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.measuring import ROOT
from tidemark.engine.checkpoints.state import State
from tidemark.engine.decision.costs import NUMBER, Choices, by_model, choices
from tidemark.engine.verify.verdict import Verdict
from tidemark.engine.verify.verify import verify


def newest_ways(spark: SparkSession, prefix: str) -> dict[str, tuple[float, str]]:
    """Return the seconds of each model in the newest run, and how it has read, without versions.

    Args:
        spark: the session.
        prefix: the prefix of the project's schemas.
    """
    rows = spark.sql(
        f"select model, seconds, reads from {prefix}_ops.model_runs "
        f"where started_at = (select max(started_at) from {prefix}_ops.model_runs) order by model"
    ).collect()
    found = {}
    for row in rows:
        ways = {way[1] for read in row["reads"] if (way := re.search(r"\((.*)\)$", read))}
        found[row["model"].split(".")[1]] = row["seconds"], ", ".join(sorted(ways)) or "all of it"
    return found


def graded(spark: SparkSession, prefix: str) -> Choices:
    """Return how many of the newest runs of each model took the cheaper way, as `tidemark status` does.

    Args:
        spark: the session.
        prefix: the prefix of the project's schemas.
    """
    return choices(by_model(State(spark, f"{prefix}_ops").measured_runs(NUMBER)))


def proofs(spark: SparkSession, project: Path, scratch: Path) -> list[Verdict]:
    """Compare all tables of a project with their rebuilds.

    Args:
        spark: the session.
        project: the project's folder.
        scratch: the folder for dbt's files.
    """
    with inside(project, scratch):
        return list(verify(spark, []))


@contextmanager
def inside(project: Path, scratch: Path) -> Iterator[None]:
    """Let the engine's functions find a project.

    Args:
        project: the project's folder.
        scratch: the folder for dbt's files.
    """
    folders = {"PROFILES_DIR": ROOT, "TARGET_PATH": scratch / "target", "LOG_PATH": scratch / "logs"}
    os.environ |= {f"DBT_{name}": str(folder) for name, folder in folders.items()}
    os.chdir(project)
    try:
        yield
    finally:
        os.chdir(ROOT)
