"""The demo: land and build the real purchase log in three steps, in the lake of all commands."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from dev.demo.local_lake import LocalLake
from dev.demo.remote_lake import RemoteLake
from dev.demo.rows import show_rows
from python_ingest.feeds.declarations import Feed
from tidemark.base.errors import DeclarationError, TidemarkError
from tidemark.base.interrupts import end, on_interrupt
from tidemark.base.output import output
from tidemark.cli.build import DATA_ONLY, build_models
from tidemark.cli.landing import land
from tidemark.cli.verdicts import show_verdicts
from tidemark.engine.project.session import start_session, warm_session
from tidemark.lake.lock import hold
from tidemark.lake.metastore import metastore
from tidemark.lake.place import DEFAULT_LAKE, is_remote, lake_folder, lake_location
from tidemark.project_with_feeds import ProjectWithFeeds

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Lake = LocalLake | RemoteLake
RAW = Path("data/raw")
PURCHASES = "transactions"
FEEDS = {
    "transactions": "transactions_*.csv",
    "user_events": "events_*.csv",
    "device_events": "device_events_*.json",
    "inventory_movements": "inventory_movements_*.json",
}


def play(root: Path, *, all_feeds: bool = False) -> None:
    """Run the three steps, verify the tables and print rows of gold tables.

    Args:
        root: the project's folder, which must be the current one.
        all_feeds: whether the simulated feeds are landed, too, and all models built.

    Raises:
        LakeBusyError: when another process holds the lake.
        TidemarkError: when the lake has files that the demo did not write.
    """
    files = demo_files()
    if not all_feeds:
        files = {PURCHASES: files[PURCHASES]}
    # a source, what is made of it, and what that reads besides
    selection = [] if all_feeds else [f"@source:bronze.{PURCHASES}"]
    hold(lake_folder())
    location = lake_location()
    os.environ["TIDEMARK_RAW"] = f"{location}/inbox"
    lake: Lake
    if is_remote():
        lakehouse = ProjectWithFeeds.load()
        spark = warm_session(root)
        lake = RemoteLake(spark)
        lake.check()
    else:
        lake = LocalLake()
        lake.check()  # before the slow steps
        start_session(root, empty=metastore() is None)
        lakehouse = ProjectWithFeeds.load()
        spark = warm_session(root)
    if is_remote() or metastore():
        drop_tables(spark, {table.partition(".")[0] for table in (*lakehouse.tables, lakehouse.ops_schema)})
        lake.clear()
    for name in files:
        lake.make_folder(f"inbox/{name}")
    feeds = [feed for name, feed in lakehouse.feeds.items() if all_feeds or name == PURCHASES]
    steps = Steps(spark, lakehouse, lake, feeds, selection)
    first, then = TITLES[all_feeds]
    steps.play(first, [file for found in files.values() for file in found[:-1]])
    steps.play(then, [found[-1] for found in files.values()])
    steps.play("3. Nothing new", [])
    output.console.rule("4. The proof: every table against a rebuild", align="left", characters="─")
    show_verdicts(spark, selection)
    output.console.print()
    _show(spark, "gold.daily_sales", largest="sales_date")
    if all_feeds:
        _show(spark, "gold.user_events_by_type", largest="event_count")
    elsewhere = "" if location == DEFAULT_LAKE else f"TIDEMARK_LAKE={shlex.quote(location)} "
    output.text(
        f"The lake is in {location}/. Look around, for example:\n"
        f"  {elsewhere}.venv/bin/dbt show --quiet --inline "
        '"select * from gold.customer_sales order by amount desc"'
    )


TITLES = {
    False: ("1. Seventeen months of purchases", "2. The last month"),
    True: (
        "1. Seventeen months of purchases, six days of events and movements",
        "2. The last month, the last day",
    ),
}


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


def drop_tables(spark: SparkSession, schemas: Iterable[str]) -> None:
    """Drop schemas of an earlier demo, which are in the catalog and not only in files.

    Args:
        spark: the session.
        schemas: their names.

    Raises:
        TidemarkError: when one of them is of another lake; then none is dropped.
    """
    there = sorted(schema for schema in schemas if spark.catalog.databaseExists(schema))
    warehouse = unquote(f"{spark.conf.get('spark.sql.warehouse.dir')}/")
    for schema in there:
        place = unquote(spark.catalog.getDatabase(schema).locationUri)
        if not place.startswith(warehouse):
            raise TidemarkError(
                f"The catalog's schema {schema} is of another lake ({place}), and the demo would drop it.",
                "Use another catalog in TIDEMARK_METASTORE, or another prefix in TIDEMARK_SCHEMA.",
            )
    for schema in there:
        spark.sql(f"drop schema {schema} cascade")


@dataclass(frozen=True)
class Steps:
    """Plays steps of the demo.

    Attributes:
        spark: the session.
        lakehouse: the project.
        lake: where the files go.
        feeds: what is landed.
        selection: dbt selectors of what is built; empty for all.
    """

    spark: SparkSession
    lakehouse: ProjectWithFeeds
    lake: Lake
    feeds: Sequence[Feed | DeclarationError]
    selection: Sequence[str]

    def play(self, title: str, files: Sequence[Path]) -> None:
        """Copy raw files into the lake, land and build them."""
        output.console.rule(title, align="left", characters="─")
        started, lake = time.monotonic(), self.lake
        with on_interrupt(partial(end, last=lake.mark if isinstance(lake, LocalLake) else None)):
            for file in files:
                lake.copy(file, f"inbox/{file.parent.name}")
            try:
                land(self.spark, self.lakehouse, self.feeds)
                build_models([*DATA_ONLY, *(["--select", *self.selection] if self.selection else [])])
            finally:
                lake.mark()
        output.console.print(f"  {time.monotonic() - started:.1f} s in total\n")


def _show(spark: SparkSession, name: str, largest: str) -> None:
    show_rows(spark.table(name).orderBy(largest, ascending=False).limit(5), title=name)
