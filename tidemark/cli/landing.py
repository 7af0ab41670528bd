"""Land the feeds of a project, and report each landing as lineage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from python_ingest import land as landing
from python_ingest.feeds.declarations import Feed
from python_ingest.land import raise_failed
from python_ingest.land_one import DEFAULT_OPTIONS, LandingOptions
from tidemark.base.errors import DeclarationError, TidemarkError
from tidemark.engine.dbt_core.profiles import threads
from tidemark.engine.project import Project
from tidemark.operate.lineage.landings import report_landing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def land(
    spark: SparkSession,
    project: Project,
    feeds: Sequence[Feed | DeclarationError],
    *,
    options: LandingOptions = DEFAULT_OPTIONS,
) -> list[Any]:
    """Land feeds and print a line for each; if one feed fails, the others still land.

    Args:
        spark: the session.
        project: the project.
        feeds: the feeds; of those with an invalid declaration, the error.
        options: the options of the landing.

    Returns:
        The outcomes of the feeds that landed.

    Raises:
        LandingError: when a feed failed: its source cannot be read, its declaration does not allow what was
            found, or Spark failed.
        DeclarationError: when the declaration of the only feed is invalid.
        SparkLostError: when Spark's JVM ends; the remaining feeds are skipped.
    """
    # a single error becomes the command's error
    outcomes, failed = land_each(spark, project, feeds, options=options, prints_errors=len(feeds) > 1)
    raise_failed(failed, of=len(feeds))
    return outcomes


def land_each(
    spark: SparkSession,
    project: Project,
    feeds: Sequence[Feed | DeclarationError],
    *,
    options: LandingOptions = DEFAULT_OPTIONS,
    prints_errors: bool = True,
) -> tuple[list[Any], dict[str, TidemarkError]]:
    """Land feeds as `land` does; return the outcomes, and the errors by the names of the feeds that failed.

    As many land side by side as dbt builds models: the `threads` of the profile's target.

    Raises:
        SparkLostError: when Spark's JVM ends; the remaining feeds are skipped.
    """
    report = partial(report_landing, spark, project)
    options = replace(options, at_once=threads(project.root))
    return landing.land_each(
        spark, project.ops_schema, feeds, options=options, prints_errors=prints_errors, report=report
    )
