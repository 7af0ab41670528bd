"""`tidemark explain`: what the next run would do for each model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.filesize import decimal

from python_ingest.console.output import output
from python_ingest.project.explain import explain

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def show_plans(spark: SparkSession, selection: Sequence[str]) -> None:
    """Print what the next run would do for each model."""
    for plan in explain(spark, selection):
        output.text(f"  {plan.table}")
        for read in plan.reads:
            size = f": {read.rows:,} rows, {decimal(read.bytes)}" if read.rows else ""
            output.text(f"    reads {read.source} {read.said}{size}")
            if read.touches:
                output.text(f"    goes back to {read.source} for {read.touches}")
        if plan.unproven:
            output.text(f"    not proven: {plan.unproven}")
        if plan.waits_for:
            output.text(f"    after {', '.join(plan.waits_for)}, which the run changes first")
