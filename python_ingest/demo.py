"""The demonstration: the real purchase log, landed and built in three steps, in a lake of its own."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from python_ingest import project, steps
from python_ingest.landing_steps import land
from python_ingest.output import output
from python_ingest.session import warm_session
from python_ingest.showing import show_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LAKE = Path("lake-demo")
RAW = Path("data/raw")
FEEDS = {
    "transactions": "transactions_*.csv",
    "user_events": "events_*.csv",
    "device_events": "device_events_*.json",
    "inventory_movements": "inventory_movements_*.json",
}


def play(root: Path) -> None:
    """Play the three steps and print some gold.

    Args:
        root: the project's folder, which must be the current one.
    """
    inbox = LAKE / "inbox"
    os.environ["TIDEMARK_LAKE"] = str(LAKE)
    os.environ["TIDEMARK_RAW"] = str(inbox)
    files = {name: sorted((RAW / name).glob(pattern)) for name, pattern in FEEDS.items()}
    lakehouse = project.load()
    spark = warm_session(root, empty=True)
    for name in FEEDS:
        (inbox / name).mkdir(parents=True)
    _step(spark, lakehouse, "1. Seventeen months of purchases, six days of events and movements",
          [file for found in files.values() for file in found[:-1]])  # fmt: skip
    _step(
        spark,
        lakehouse,
        "2. The last month, the last day",
        [found[-1] for found in files.values()],
    )
    _step(spark, lakehouse, "3. Nothing new", [])
    output.console.rule("4. The proof: every table against a rebuild", align="left", characters="─")
    steps.verify(spark, [])
    output.console.print()
    _show(spark, "gold.daily_sales", largest="sales_date")
    _show(spark, "gold.user_events_by_type", largest="events")
    output.console.print(
        f"\nThe lake is in {LAKE}/. Look around, for example:\n"
        f"  TIDEMARK_LAKE={LAKE} .venv/bin/dbt show --quiet --inline "
        '"select * from gold.customer_sales order by amount desc"'
    )


def _step(spark: SparkSession, lakehouse: project.Project, title: str, files: Sequence[Path]) -> None:
    output.console.rule(title, align="left", characters="─")
    started = time.monotonic()
    for file in files:
        shutil.copy2(file, LAKE / "inbox" / file.parent.name)
    land(spark, lakehouse, list(lakehouse.feeds.values()))
    steps.build(steps.DATA_ONLY)
    output.console.print(f"  in all {time.monotonic() - started:.1f} s\n")


def _show(spark: SparkSession, name: str, largest: str) -> None:
    show_rows(spark.table(name).orderBy(largest, ascending=False).limit(5), title=name)
