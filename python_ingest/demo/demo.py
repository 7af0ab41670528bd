"""The demo: land and build the real purchase log in three steps, in the lake of all commands."""

from __future__ import annotations

import os
import shlex
import shutil
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from python_ingest import project
from python_ingest.commands.build import DATA_ONLY, build_models
from python_ingest.commands.land import land
from python_ingest.commands.verify import show_verdicts
from python_ingest.console.interrupts import end, on_interrupt
from python_ingest.console.output import output
from python_ingest.console.tables import show_rows
from python_ingest.errors import TidemarkError
from python_ingest.lake.lock import DEFAULT_LAKE, LOCK, hold, lake_folder
from python_ingest.project.session import warm_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MARK = ".demo"  # written after each step; newer files were not written by the demo
CATALOGS = ("metastore", "catalog.db")  # also written by commands that only read
RAW = Path("data/raw")
FEEDS = {
    "transactions": "transactions_*.csv",
    "user_events": "events_*.csv",
    "device_events": "device_events_*.json",
    "inventory_movements": "inventory_movements_*.json",
}


def play(root: Path) -> None:
    """Run the three steps, verify all tables and print rows of two gold tables.

    Args:
        root: the project's folder, which must be the current one.

    Raises:
        LakeBusyError: when another process holds the lake.
        TidemarkError: when the lake has files that the demo did not write.
    """
    lake = lake_folder()
    files = demo_files()
    hold(lake)
    check_replaceable(lake)
    os.environ["TIDEMARK_RAW"] = str(lake / "inbox")
    lakehouse = project.load()
    spark = warm_session(root, empty=True)
    for name in FEEDS:
        (lake / "inbox" / name).mkdir(parents=True)
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
    show_verdicts(spark, [])
    output.console.print()
    _show(spark, "gold.daily_sales", largest="sales_date")
    _show(spark, "gold.user_events_by_type", largest="event_count")
    elsewhere = "" if lake == Path(DEFAULT_LAKE) else f"TIDEMARK_LAKE={shlex.quote(str(lake))} "
    output.text(
        f"The lake is in {lake}/. Look around, for example:\n"
        f"  {elsewhere}.venv/bin/dbt show --quiet --inline "
        '"select * from gold.customer_sales order by amount desc"'
    )


def demo_files() -> dict[str, list[Path]]:
    """Return the raw files of each feed of the demo, oldest first.

    Raises:
        TidemarkError: when the project is not Tidemark's repository, which has them.
    """
    files = {name: sorted((RAW / name).glob(pattern)) for name, pattern in FEEDS.items()}
    missing = [str(RAW / name) for name, found in files.items() if not found]
    if missing:
        raise TidemarkError(
            f"The demo's files are missing: there are none in {', '.join(missing)}.",
            "Run it in a clone of Tidemark's repository. `tidemark init` has a small feed to try.",
        )
    return files


def check_replaceable(lake: Path) -> None:
    """Refuse a lake with files that the demo did not write, because the demo deletes all files there.

    Args:
        lake: the lake's folder, which exists.

    Raises:
        TidemarkError: when a file is not from the demo, or has changed since the demo wrote it.
    """
    mark = lake / MARK
    ours = (LOCK, MARK, *CATALOGS)
    entries = [entry for entry in lake.iterdir() if not entry.name.startswith(ours)]
    entries += [inner for entry in entries for inner in entry.rglob("*")]
    if mark.exists():
        until = mark.stat().st_ctime_ns
        others = [entry for entry in entries if entry.lstat().st_ctime_ns > until]
    else:
        others = [entry for entry in entries if not entry.is_dir()]
    if others:
        raise TidemarkError(
            f"The lake '{lake}' is not empty and was not made by the demo, which would delete it.",
            f"Use another lake: `TIDEMARK_LAKE={shlex.quote(f'{lake}-demo')} make demo`. "
            f"Or delete this one first: `rm -r {shlex.quote(str(lake))}`.",
        )


def _step(spark: SparkSession, lakehouse: project.Project, title: str, files: Sequence[Path]) -> None:
    output.console.rule(title, align="left", characters="─")
    started = time.monotonic()
    lake = lake_folder()
    with on_interrupt(partial(end, last=(lake / MARK).touch)):
        for file in files:
            shutil.copy2(file, lake / "inbox" / file.parent.name)
        try:
            land(spark, lakehouse, list(lakehouse.feeds.values()))
            build_models(DATA_ONLY)
        finally:
            (lake / MARK).touch()
    output.console.print(f"  {time.monotonic() - started:.1f} s in total\n")


def _show(spark: SparkSession, name: str, largest: str) -> None:
    show_rows(spark.table(name).orderBy(largest, ascending=False).limit(5), title=name)
