"""Detect landed rows that are missing from bronze: by its commits, then by a count.

Each landing reads bronze's commits (`bronze/history.py`), which takes no query. If a commit may have removed
rows, the rows in bronze are counted and compared with what landed. The feed's `on_lost_rows` decides what
follows; a loss is never ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from pyspark.sql import functions as f

from python_ingest.bronze.history import Doubt, doubt_about, present_version
from python_ingest.bronze.table import BronzeTable
from python_ingest.feeds.declarations import Feed, FileFeed, TableFeed, TopicFeed
from python_ingest.feeds.paths import ARCHIVED_IN_SQL
from python_ingest.ops.bronze_checks import BronzeChecks, Decision, Lost, Settled, missing_rows_text
from tidemark.base.errors import LandingError
from tidemark.lake.table_format import DELTA, table_format

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


FILE = f"regexp_replace(_source_file, r'{ARCHIVED_IN_SQL}', '$1')"  # of a member its archive


class Landings(Protocol):
    """What a feed's state table knows about its landed batches."""

    @property
    def landed_batch(self) -> int:
        """The highest batch that landed; 0 if there is none."""

    def landed(self) -> DataFrame:
        """Return `batch_id`, `path` (null for a complete batch) and `landed`, the number of rows."""


class LostRows:
    """Finds rows that are missing from one feed's bronze table.

    Args:
        spark: the session.
        feed: the declaration.
        bronze: the table.
        landings: the record of what landed.
        checks: the results of earlier checks.
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
        """Return why landed rows may be missing, by the table's commits since the last landed batch."""
        return doubt_in(self._spark, self._bronze, self._checks, self._landings.landed_batch)

    def settle(self, doubt: Doubt, land_again: Callable[[Sequence[Lost]], None] | None = None) -> Settled:
        """Count bronze's rows; if some are missing, do what `on_lost_rows` says.

        Args:
            doubt: why rows may be missing.
            land_again: restores rows under their batch. Without it, the policy `land_again` becomes the
                decision `compared`: the caller must compare all rows of the source before it records this.

        Returns:
            What to record.

        Raises:
            LandingError: if rows are missing and the policy is `stop`, or they cannot land again.
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
        """Record a check made at a time (UTC), so that the next landing reads only later commits."""
        self._checks.record(self._bronze.identity(), settled, at)

    def _counted(self) -> tuple[int, list[Lost]]:
        """Return bronze's version and the lost rows, with one query whose result is only these rows."""
        version = present_version(self._spark, self._bronze.name)
        path = self._bronze.counted_as(FILE)
        found = self._spark.sql(
            "select batch_id, path, count(*) as found from "
            f"(select _batch_id as batch_id, {path} as path from {self._bronze.name}) "
            f"group by grouping sets ((batch_id, path), (batch_id))"
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
        if isinstance(self._feed, FileFeed) and self._feed.external.retracts:
            ways[FileFeed] = ways[TopicFeed]
        choice = next(message for kind, message in ways.items() if isinstance(self._feed, kind))
        return LandingError(
            f"{missing_rows_text(self._bronze.name, lost)} ({doubt.cause}). Nothing landed.",
            f"Restore them ({self._restoring(doubt)}), or set `on_lost_rows` in "
            f"{self._feed.declared_in} to {choice}.",
        )

    def _cannot_land_again(self, lost: Sequence[Lost], doubt: Doubt) -> LandingError:
        return LandingError(
            f"{missing_rows_text(self._bronze.name, lost)} ({doubt.cause}), and they cannot be landed again: "
            "their files are missing or have changed.",
            f"Restore the files or the table ({self._restoring(doubt)}), or set `on_lost_rows` in "
            f"{self._feed.declared_in} to `accept`.",
        )

    def _restoring(self, doubt: Doubt) -> str:
        """Return how to restore the table to its earlier state."""
        if doubt.before is None:
            return "from a copy of the table"
        table, before = self._bronze.name, doubt.before
        if table_format(self._spark) == DELTA:
            return f"`restore table {table} to version as of {before}`"
        catalog = self._spark.catalog.currentCatalog()
        return f"`call {catalog}.system.rollback_to_snapshot('{table}', {before})`"


def doubt_in(spark: SparkSession, bronze: BronzeTable, checks: BronzeChecks, batch: int) -> Doubt | None:
    """Return why rows of batches up to `batch` may be missing from a bronze table, or None."""

    def checked() -> int | None:
        return checks.version(bronze.identity())

    return doubt_about(spark, bronze.name, bronze.writer, batch, checked)


def _joined(landed: DataFrame, found: DataFrame) -> DataFrame:
    """Join what landed to what was found, by batch and file; a null path stands for a complete batch."""
    one, other = landed.alias("landed"), found.alias("found")
    same = f.expr("landed.batch_id = found.batch_id and landed.path <=> found.path")
    return one.join(other, on=same, how="left").select("landed.*", "found.found")
