"""Land feeds of any kind, and print the outcomes."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from python_ingest.clock import utc_now
from python_ingest.commands.landed import Outcome, print_landed, rows_of
from python_ingest.console.interrupts import on_interrupt
from python_ingest.console.output import count_of, output
from python_ingest.errors import LandingError, SparkLostError, TidemarkError
from python_ingest.feeds.declarations import Feed, FileFeed, TableFeed, TopicFeed
from python_ingest.files.failures import disk_full, is_disk_full, spark_is_lost, spark_lost
from python_ingest.files.landing import Lander
from python_ingest.files.progress import Progress, shown
from python_ingest.kafka.landing import TopicLander
from python_ingest.lake.place import lake_location
from python_ingest.lake.table_locks import lock_tables, locked
from python_ingest.lineage.landings import report_landing
from python_ingest.postgresql.landing import TableLander
from python_ingest.project import Project

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLLOW_SECONDS = 0.5


@dataclass(frozen=True)
class How:
    """The options of a landing.

    Attributes:
        replays: land rejected files and records again instead of new ones; only for feeds of files.
        compares_all: compare all rows of tables again.
        accepts_loss: continue if messages of a topic were lost.
    """

    replays: bool = False
    compares_all: bool = False
    accepts_loss: bool = False


AS_EVER = How()


def land(
    spark: SparkSession,
    project: Project,
    feeds: Sequence[Feed],
    *,
    how: How = AS_EVER,
) -> list[Any]:
    """Land feeds and print a line for each; if one feed fails, the others still land.

    Args:
        spark: the session.
        project: the project.
        feeds: the feeds.
        how: the options of the landing.

    Returns:
        The outcomes of the feeds that landed.

    Raises:
        LandingError: when a source cannot be read, or a feed's declaration does not allow what was found.
        SparkLostError: when Spark's JVM ends; the remaining feeds are skipped.
    """
    outcomes, failed = [], []
    if not feeds:
        output.text("  nothing to land: no feed is selected", "nothing_selected")
    for feed in feeds:
        started, began = time.monotonic(), utc_now()
        try:
            with locked(feed.table, f"{project.ops_schema}.landing"):
                outcome = _land_one(spark, project, feed, how)
        except TidemarkError as error:
            report_landing(spark, project, feed, began, error)
            if len(feeds) == 1 or isinstance(error, SparkLostError):
                raise
            failed.append((feed, error))
            output.note("not landed", f"{feed.table}: {error}", style="red", feed=feed.name)
            continue
        if outcome is not None:
            outcomes.append(outcome)
            print_landed(feed, outcome, time.monotonic() - started)
            report_landing(spark, project, feed, began, rows_of(outcome))
    if failed:
        raise LandingError(
            f"{count_of(len(failed), 'feed')} failed to land: {', '.join(feed.name for feed, _ in failed)}.",
            "Fix the errors above and land again. What landed is kept; the rest continues from its mark.",
        )
    return outcomes


def follow(spark: SparkSession, project: Project, feeds: Sequence[Feed], how: How) -> None:
    """Land the messages of topics as they arrive, until the process is stopped.

    Raises:
        LandingError: when a feed is not a topic, or a stream stops.
    """
    others = [feed.name for feed in feeds if not isinstance(feed, TopicFeed)]
    if others:
        raise LandingError(
            f"--follow works only for topics; it cannot follow {', '.join(others)}.",
            "Name only feeds of topics; land the others on a schedule.",
        )
    lock_tables([f"{project.ops_schema}.landing", *(feed.table for feed in feeds)])
    landers = [_topic_lander(spark, project, feed, how) for feed in feeds if isinstance(feed, TopicFeed)]
    streams = [
        lander.start(follows=True, told=partial(print_landed, feed, seconds=0.0))
        for lander, feed in zip(landers, feeds, strict=True)
    ]
    output.text(f"  following {', '.join(feed.name for feed in feeds)}; Ctrl-C stops", "following")
    try:
        with on_interrupt(signal.default_int_handler):
            while all(stream.isActive for stream in streams):
                time.sleep(FOLLOW_SECONDS)
    except KeyboardInterrupt:
        output.text("  stopped; the next landing continues from there", "stopped")
    else:
        for lander, stream in zip(landers, streams, strict=True):
            if not stream.isActive:
                lander.finish(stream)
    finally:
        for stream in streams:
            stream.stop()


def _land_one(spark: SparkSession, project: Project, feed: Feed, how: How) -> Outcome | None:
    if isinstance(feed, FileFeed):
        with shown(spark, feed.name, output) as progress, _watched(spark, feed, progress):
            lander = Lander(spark, feed, project.ops_schema, progress=progress)
            return lander.replay() if how.replays else lander.land()
    if how.replays:
        return None
    with output.status(f"landing {feed.name}"), _watched(spark, feed):
        if isinstance(feed, TopicFeed):
            return _topic_lander(spark, project, feed, how).land()
        assert isinstance(feed, TableFeed)  # noqa: S101  # there are no other kinds
        return TableLander(spark, feed, project.ops_schema, compares_all=how.compares_all).land()


@contextmanager
def _watched(spark: SparkSession, feed: Feed, progress: Progress | None = None) -> Iterator[None]:
    """Raise a clear error when the disk is full, or Spark's JVM has ended."""
    try:
        yield
    except (Py4JError, PySparkException, OSError) as error:
        if spark_is_lost(spark):
            raise spark_lost(feed.name, [file.path for file in progress.batch] if progress else []) from error
        if is_disk_full(error):
            raise disk_full(feed.name, feed.table, lake_location()) from error
        raise


def _topic_lander(spark: SparkSession, project: Project, feed: TopicFeed, how: How) -> TopicLander:
    return TopicLander(spark, feed, project.ops_schema, accepts_loss=how.accepts_loss)
