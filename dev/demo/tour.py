"""The tour: the requirements R1 to R5, each with a small example, in one warm session."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from dev.demo.demo import demo_files
from dev.demo.rows import show_rows
from tidemark.base.output import output
from tidemark.cli.build import DATA_ONLY, build_models
from tidemark.cli.explain import show_plans
from tidemark.cli.landing import land
from tidemark.cli.maintain import maintain_tables
from tidemark.cli.rebuild import rebuild_range
from tidemark.cli.verdicts import show_verdicts
from tidemark.engine.project.session import retarget, warm_session
from tidemark.lake.retention import Kept
from tidemark.project_with_feeds import ProjectWithFeeds

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LAKE = Path("lake-tour")
RAW = Path("data/raw")
FEEDS = ("transactions", "user_events", "device_events", "inventory_movements")
SHOP = "TIDEMARK_CONNECTION_SHOP"
LATE = {"temperature": 99.5, "battery": 50, "status": "ok"}


def play(root: Path) -> None:
    """Run all stations; the database station runs only if a database is configured.

    Args:
        root: the project's folder, which must be the current one.

    Raises:
        TidemarkError: when the project is not Tidemark's repository.
    """
    demo_files()
    os.environ["TIDEMARK_LAKE"] = str(LAKE)
    os.environ["TIDEMARK_RAW"] = str(LAKE / "inbox")
    lakehouse = ProjectWithFeeds.load()
    output.text("The tour uses its own lake and files, and deletes them when it runs again.")
    output.text(f"$ export TIDEMARK_LAKE={LAKE} TIDEMARK_RAW={LAKE / 'inbox'}")
    tour = Tour(warm_session(root, empty=True), lakehouse)
    for feed in FEEDS:
        (LAKE / "inbox" / feed).mkdir(parents=True)
    for station in (tour.daily_files, tour.increments, tour.database, tour.snapshots, tour.devices):
        station()


class Tour:
    """The stations of the tour.

    Args:
        spark: the session.
        lakehouse: the project.
    """

    def __init__(self, spark: SparkSession, lakehouse: ProjectWithFeeds) -> None:
        self._spark = spark
        self._lakehouse = lakehouse

    def daily_files(self) -> None:
        """R1: files land once, silver keeps the newest row of each key, gold costs only what changed."""
        _title("R1  Daily files become bronze, silver and gold")
        self._arrive("user_events", "events_2025-01-0[1-6].csv")
        self._land_and_build("user_events")
        self._say("A day later: one new file, and one that is sent again under another name.")
        self._arrive("user_events", "events_2025-01-07.csv")
        again = LAKE / "inbox" / "user_events" / "events_2025-01-03_again.csv"
        shutil.copy2(RAW / "user_events" / "events_2025-01-03.csv", again)
        self._land_and_build("user_events")
        self._say("Rows that break a rule are set aside, with the rule's reason.")
        self._show(
            "select rejection_reason, count(*) as rows from silver.rejected_user_events "
            "group by all order by 2 desc limit 3"
        )

    def increments(self) -> None:
        """R2: each model has a mark for each source; new rows update a total over all history."""
        _title("R2  An increment costs what changed")
        self._arrive("inventory_movements", "*_2025-01-0[1-6].json")
        self._land_and_build("inventory_movements")
        self._arrive("inventory_movements", "*_2025-01-07.json")
        self._command("tidemark land inventory_movements", self._landing("inventory_movements"))
        self._command(
            "tidemark explain inventory_movements",
            lambda: show_plans(self._spark, ["inventory_movements"]),
        )
        self._build("inventory_movements")
        self._show(
            "select model, source, max(version) as version from ops.checkpoints "
            "where model like '%.%inventory%' and model not like 'test.%' group by all order by model"
        )
        self._show("select * from gold.inventory_on_hand order by quantity_on_hand desc limit 3")

    def database(self) -> None:
        """R3: tables of a live database; each change lands once, including deletes and late updates."""
        _title("R3  Tables of PostgreSQL")
        if not os.environ.get(SHOP):
            self._say(
                f"Skipped: {SHOP} is not set. `make services` starts a PostgreSQL and prints its value."
            )
            return
        from dev.simulators.shop import shop_days
        from dev.simulators.targets import PostgresTarget
        from tidemark.base.connections import connection

        models = ("customers", "customer_history", "orders", "daily_product_sales")
        days = list(shop_days(date(2025, 1, 1), 4, 60, 20250101))
        with PostgresTarget(connection("shop", "postgresql")) as target:
            for day in days[:3]:
                target.apply(day.operations)
            self._land_and_build("customers", "orders", models=models)
            self._say("Another day of the shop: new and changed orders, late updates, deletes.")
            target.apply(days[3].operations)
            self._land_and_build("customers", "orders", models=models)
        self._say("Nothing new: skipped.")
        self._command("tidemark land customers orders", self._landing("customers", "orders"))

    def snapshots(self) -> None:
        """R4: the same feed and models on Iceberg: snapshot ids, time travel, compaction, expiry."""
        _title("R4  The same on Iceberg, by snapshot id")
        self._switch("iceberg")
        (LAKE / "inbox" / "user_events" / "events_2025-01-03_again.csv").unlink()
        self._depart("user_events", "events_2025-01-0[4-7].csv")
        self._land_and_build("user_events", models=("user_events",))
        self._arrive("user_events", "events_2025-01-04.csv")
        self._command("tidemark land user_events", self._landing("user_events"))
        self._show("select committed_at, snapshot_id, operation from bronze.user_events.snapshots order by 1")
        self._command("tidemark explain user_events", lambda: show_plans(self._spark, ["user_events"]))
        self._build("user_events", models=("user_events",))
        self._show(
            "select model, max_by(version, sequence) as snapshot from ops.checkpoints "
            "where model like 'silver%' group by all order by model"
        )
        first = self._spark.sql(
            "select min_by(snapshot_id, committed_at) from silver.user_events.snapshots"
        ).collect()[0][0]
        self._show(f"select count(*) as rows from silver.user_events version as of {first}")
        self._command("tidemark maintain silver.user_events", lambda: self._maintain("silver.user_events"))
        self._command("tidemark verify user_events", lambda: show_verdicts(self._spark, ["user_events"]))
        self._switch("local")

    def devices(self) -> None:
        """R5: late events rewrite only their own days; a rebuild reads and writes only its range of dates."""
        _title("R5  Device events, late ones too")
        models = ("device_events", "rejected_device_events", "device_hours")
        self._arrive("device_events", "*_2025-01-0[1-7].json")
        self._land_and_build("device_events", models=models)
        self._say("An event arrives six days late: only its day is written, in silver and gold.")
        times = {"event_ts": "2025-01-02T12:34:56.789Z", "ingest_ts": "2025-01-08T00:10:00Z"}
        late = {"event_id": "late-1", "device_id": "device-0001", **times, **LATE}
        file = LAKE / "inbox" / "device_events" / "device_events_2025-01-08.json"
        file.write_text(json.dumps(late) + "\n", encoding="utf-8")
        self._land_and_build("device_events", models=models)
        self._show(
            "select event_date, count(distinct _metadata.file_path) as files from silver.device_events "
            "where event_date between '2025-01-02' and '2025-01-03' group by all order by all"
        )
        self._say("Two days are replayed from bronze; nothing differs, so nothing is written.")
        self._command(
            "tidemark rebuild device_events device_hours --from 2025-01-02 --to 2025-01-03",
            lambda: rebuild_range(["device_events", "device_hours"], "2025-01-02", "2025-01-03"),
        )
        self._command(f"tidemark verify {' '.join(models)}", lambda: show_verdicts(self._spark, models))

    def _switch(self, target: str) -> None:
        output.text(f"$ export DBT_TARGET={target}")
        os.environ["DBT_TARGET"] = target
        retarget(self._spark, self._lakehouse.root)

    def _maintain(self, table: str) -> None:
        maintain_tables(self._spark, self._lakehouse, [table], Kept())

    def _arrive(self, feed: str, pattern: str) -> None:
        for file in sorted((RAW / feed).glob(pattern)):
            shutil.copy2(file, LAKE / "inbox" / feed)

    def _depart(self, feed: str, pattern: str) -> None:
        for file in (LAKE / "inbox" / feed).glob(pattern):
            file.unlink()

    def _landing(self, *feeds: str) -> Callable[[], object]:
        chosen = [self._lakehouse.feeds[name] for name in feeds]
        return lambda: land(self._spark, self._lakehouse, chosen)

    def _land_and_build(self, *feeds: str, models: Sequence[str] = ()) -> None:
        self._command(f"tidemark land {' '.join(feeds)}", self._landing(*feeds))
        self._build(*feeds, models=models)

    def _build(self, *feeds: str, models: Sequence[str] = ()) -> None:
        selectors = list(models) or [f"source:bronze.{feed}+" for feed in feeds]
        if "user_events" in feeds:
            selectors.append("event_types")  # the seed with the known types
        options = ["--select", *selectors]
        message = f"dbt build {shlex.join(options)}"
        self._command(message, lambda: build_models([*DATA_ONLY, *options]))

    def _show(self, query: str) -> None:
        self._command(f'dbt show --inline "{query}"', lambda: show_rows(self._spark.sql(query)))

    def _command(self, message: str, does: Callable[[], object]) -> None:
        output.text(f"$ {message}")
        does()

    def _say(self, text: str) -> None:
        output.text(f"\n{text}")


def _title(text: str) -> None:
    output.console.print()
    output.console.rule(text, align="left", characters="─")
