"""Measured numbers as text: tables, and the machine and the versions that they belong to."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from importlib.metadata import version
from statistics import median

from pyspark.sql import SparkSession

from tidemark.operate.doctor.limits import DEFAULT, VARIABLE


def spread(seconds: Sequence[float]) -> str:
    """Return the median, the lowest and the highest of seconds as text."""
    return f"{median(seconds):.1f} ({min(seconds):.1f}..{max(seconds):.1f})"


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, align: str = "---:") -> list[str]:
    """Return the lines of a table, whose columns are right-aligned unless `align` says otherwise."""
    return [f"| {' | '.join(cells)} |" for cells in (header, [align] * len(header), *rows)]


def machine() -> str:
    """Return a description of the machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1024**3
    driver = os.environ.get(VARIABLE) or DEFAULT
    return f"{os.cpu_count()} cores, {memory:.0f} GiB of memory ({driver} for Spark), {platform.system()}"


def versions(spark: SparkSession, *more: str) -> str:
    """Return the versions of the measured software.

    Args:
        spark: the measured session.
        more: more packages.
    """
    jvm = spark.sparkContext._jvm
    java = jvm.java.lang.System.getProperty("java.version") if jvm else "?"
    names = ("delta-spark", "dbt-core", "dbt-spark", *more)
    return ", ".join([f"Spark {spark.version}", *(f"{n} {version(n)}" for n in names), f"Java {java}"])
