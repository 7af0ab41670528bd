"""Rows that were landed and are gone from bronze: noticed by its commits, counted, and never passed over.

Each landing asks bronze's commits (`bronze/history.py`), which takes no query. Only where one of them may
have removed rows are those in bronze counted and compared with what landed; the feed's `on_lost_rows`
decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from pyspark.sql import functions as f

from python_ingest.bronze.history import Doubt, doubt_about, present_version
from python_ingest.bronze.table import BronzeTable
from python_ingest.errors import LandingError
from python_ingest.feeds.declarations import Feed, FileFeed, TableFeed, TopicFeed
from python_ingest.lake.table_format import DELTA, table_format
from python_ingest.ops.bronze_checks import BronzeChecks, Decision, Lost, Settled, gone

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Landings(Protocol):
    """What a feed's table of state knows of its landed batches."""

    @property
    def landed_batch(self) -> int:
        """The highest batch that is landed; 0 when there is none."""

    def landed(self) -> DataFrame:
        """Return `batch_id`, `path` (null for a whole batch) and `landed`, the number of rows."""


class LostRows:
    """Looks for rows that are gone from one feed's bronze table.

    Args:
        spark: the session.
        feed: the declaration.
        bronze: the table.
        landings: what landed.
        checks: what earlier landings found.
    """

    def __init__(
        self,
        spark: SparkSession,
        feed: Feed,
        bronze: BronzeTable,
        landings: Landings,
        checks: BronzeChecks,
    ) -> None:
        self._spark = spark
        self._feed = feed
        self._bronze = bronze
        self._landings = landings
        self._checks = checks

    def doubt(self) -> Doubt | None:
        """Return why landed rows may be gone, by the table's commits since the last landed batch."""
        return doubt_in(self._spark, self._bronze, self._checks, self._landings.landed_batch)

    def settle(self, doubt: Doubt, land_again: Callable[[Sequence[Lost]], None] | None = None) -> Settled:
        """Count bronze's rows and do what the declaration says where some are gone.

        Args:
            doubt: why.
            land_again: brings rows back under their batch; without it `land_again` is decided as `compared`,
                and the caller is to compare all rows of the source before it records that.

        Returns:
            What to record.

        Raises:
            LandingError: when rows are gone and the declaration says stop, or they cannot land again.
        """
        policy = self._feed.external.on_lost_rows
        version, lost = self._counted()
        decision: Decision = "complete"
        if lost and policy == "accept":
            decision = "accepted"
        elif lost and policy == "land_again" and land_again is None:
            decision = "compared"
        elif lost and policy == "land_again" and land_again:
            land_again(lost)
            version, still_lost = self._counted()
            if still_lost:
                raise self._cannot_land_again(still_lost, doubt)
            decision = "landed_again"
        elif lost:
            raise self._stopped(lost, doubt)
        return Settled(self._bronze.name, doubt.cause, decision, tuple(lost), version)

    def record(self, settled: Settled, at: datetime) -> None:
        """Record a check made at a time (UTC), so that the next landing looks at later commits only."""
        self._checks.record(self._bronze.identity(), settled, at)

    def _counted(self) -> tuple[int, list[Lost]]:
        """Return bronze's version, and what it lacks: one query, whose result is what is gone."""
        version = present_version(self._spark, self._bronze.name)
        found = self._spark.sql(
            f"select _batch_id as batch_id, _source_file as path, count(*) as found from {self._bronze.name} "
            "group by grouping sets ((_batch_id, _source_file), (_batch_id))"
        )
        rows = _joined(self._landings.landed(), found)
        settled = self._checks.settled()
        if settled is not None:
            known = rows.selectExpr("batch_id", "path", "landed as all", "coalesce(found, 0) as there")
            rows = _joined(known, settled).selectExpr(
                "batch_id", "path", "least(all, found) as landed", "there as found"
            )
        lost = rows.selectExpr("path", "batch_id", "landed", "coalesce(found, 0L) as found")
        ordered = lost.where("found < landed").orderBy("batch_id", "path")
        return version, [Lost(*row) for row in ordered.collect()]

    def _stopped(self, lost: Sequence[Lost], doubt: Doubt) -> LandingError:
        ways = {
            FileFeed: "`land_again` (reads their files again) or `accept` (continues without them)",
            TableFeed: "`land_again` (compares all rows of the source) or `accept` (continues without them)",
            TopicFeed: "`accept` (continues without them)",
        }
        choice = next(said for kind, said in ways.items() if isinstance(self._feed, kind))
        return LandingError(
            f"{gone(self._bronze.name, lost)} ({doubt.cause}). Nothing landed.",
            f"Restore them ({self._restoring(doubt)}), or set `on_lost_rows` in "
            f"{self._feed.declared_in} to {choice}.",
        )

    def _cannot_land_again(self, lost: Sequence[Lost], doubt: Doubt) -> LandingError:
        return LandingError(
            f"{gone(self._bronze.name, lost)} ({doubt.cause}), and they cannot be landed again: "
            "their files are missing or have changed.",
            f"Restore the files or the table ({self._restoring(doubt)}), or set `on_lost_rows` in "
            f"{self._feed.declared_in} to `accept`.",
        )

    def _restoring(self, doubt: Doubt) -> str:
        """Return how the table is taken back to what it was."""
        if doubt.before is None:
            return "from a copy of the table"
        table, before = self._bronze.name, doubt.before
        if table_format(self._spark) == DELTA:
            return f"`restore table {table} to version as of {before}`"
        catalog = self._spark.catalog.currentCatalog()
        return f"`call {catalog}.system.rollback_to_snapshot('{table}', {before})`"


def doubt_in(spark: SparkSession, bronze: BronzeTable, checks: BronzeChecks, batch: int) -> Doubt | None:
    """Return why rows of a bronze table may be gone that landed up to a batch, or None."""

    def checked() -> int | None:
        return checks.version(bronze.identity())

    return doubt_about(spark, bronze.name, bronze.writer, batch, checked)


def _joined(landed: DataFrame, found: DataFrame) -> DataFrame:
    """Join what landed to what was found of it, by batch and file; a null path is that of a whole batch."""
    one, other = landed.alias("landed"), found.alias("found")
    same = f.expr("landed.batch_id = found.batch_id and landed.path <=> found.path")
    return one.join(other, on=same, how="left").select("landed.*", "found.found")
