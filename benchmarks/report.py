"""Measured numbers as text: tables, and the machine and the versions that they belong to."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from statistics import median
from textwrap import wrap

from pyspark.sql import SparkSession

from tidemark.operate.doctor.limits import DEFAULT, VARIABLE


def spread(seconds: Sequence[float]) -> str:
    """Return the median, the lowest and the highest of seconds as text."""
    return f"{median(seconds):.1f} ({min(seconds):.1f}..{max(seconds):.1f})"


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, align: str = "---:") -> list[str]:
    """Return the lines of a table, whose columns are right-aligned unless `align` says otherwise."""
    return [f"| {' | '.join(cells)} |" for cells in (header, [align] * len(header), *rows)]


def how_measured(command: str | None, spark: SparkSession, *more: str, after: str = "") -> list[str]:
    """Return the lines that say how, when, where and with which versions figures were measured.

    Args:
        command: the command of the benchmark; None if the page shows it elsewhere.
        spark: the measured session.
        more: more packages.
        after: more sentences.
    """
    by = f" by `{command}`" if command else ""
    text = f"Measured{by} on {datetime.now(UTC):%Y-%m-%d}, on {_machine()}, with {_versions(spark, *more)}."
    return wrap(f"{text} {after}", 120, break_long_words=False, break_on_hyphens=False)


def _machine() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1024**3
    driver = os.environ.get(VARIABLE) or DEFAULT
    return f"{os.cpu_count()} cores, {memory:.0f} GiB of memory ({driver} for Spark), {platform.system()}"


def _versions(spark: SparkSession, *more: str) -> str:
    jvm = spark.sparkContext._jvm
    java = jvm.java.lang.System.getProperty("java.version") if jvm else "?"
    names = ("delta-spark", "dbt-core", "dbt-spark", *more)
    return ", ".join([f"Spark {spark.version}", *(f"{n} {version(n)}" for n in names), f"Java {java}"])
