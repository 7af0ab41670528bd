"""Land feeds of any kind, and print the outcomes."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from python_ingest.bronze.outcome import Outcome
from python_ingest.feeds.declarations import Feed, FileFeed, TableFeed, TopicFeed
from python_ingest.files.failures import disk_full, spark_lost, unexpected
from python_ingest.files.landing import Lander
from python_ingest.files.progress import Progress, shown
from python_ingest.kafka.landing import TopicLander
from python_ingest.postgresql.landing import TableLander
from tidemark.base.clock import utc_now
from tidemark.base.errors import DeclarationError, LandingError, SparkLostError, TidemarkError
from tidemark.base.interrupts import on_interrupt
from tidemark.base.output import count_of, output
from tidemark.lake.place import lake_location
from tidemark.lake.table_locks import lock_tables, locked
from tidemark.spark.failures import is_disk_full, spark_is_lost

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLLOW_SECONDS = 0.5


@dataclass(frozen=True)
class LandingOptions:
    """The options of a landing.

    Attributes:
        replays: land rejected files, records and messages again instead of new ones.
        compares_all: compare all rows of tables again.
        accepts_loss: continue if messages of a topic were lost.
    """

    replays: bool = False
    compares_all: bool = False
    accepts_loss: bool = False


DEFAULT_OPTIONS = LandingOptions()
# takes a feed, when its landing began (UTC), and the number of rows that landed or the error
Report = Callable[[Feed, datetime, int | Exception], None]


def report_nothing(feed: Feed, began: datetime, outcome: int | Exception) -> None:
    """Do nothing: the default report."""


def land_each(  # noqa: PLR0913
    spark: SparkSession,
    ops_schema: str,
    feeds: Sequence[Feed | DeclarationError],
    *,
    options: LandingOptions = DEFAULT_OPTIONS,
    prints_errors: bool = True,
    report: Report = report_nothing,
) -> tuple[list[Any], dict[str, TidemarkError]]:
    """Land feeds and print a line for each; if one feed fails, the others still land.

    Args:
        spark: the session.
        ops_schema: the schema of the state tables.
        feeds: the feeds; of those with an invalid declaration, the error.
        options: the options of the landing.
        prints_errors: whether to print the errors of feeds that failed.
        report: called for each feed that landed rows or failed.

    Returns:
        The outcomes of the feeds that landed, and the errors by the names of the feeds that failed.

    Raises:
        SparkLostError: when Spark's JVM ends; the remaining feeds are skipped.
    """
    outcomes: list[Any] = []
    failed: dict[str, TidemarkError] = {}
    if not feeds:
        output.text("  nothing to land: no feed is selected", "nothing_selected")
    for feed in feeds:
        try:
            if isinstance(feed, DeclarationError):
                raise feed
            outcome = _land_and_print(spark, ops_schema, feed, options, report)
        except SparkLostError:
            raise
        except TidemarkError as error:
            name = feed.feed if isinstance(feed, DeclarationError) else feed.name
            failed[name] = error
            if prints_errors:
                output.note("not landed", f"{name}: {error}", style="red", feed=name)
        else:
            outcomes += [outcome] if outcome is not None else []
    return outcomes, failed


def raise_failed(failed: Mapping[str, TidemarkError], *, of: int) -> None:
    """Raise an error if feeds failed: their own if only one feed was to land.

    Args:
        failed: the errors by the names of the feeds.
        of: how many feeds were to land.
    """
    if failed and of == 1:
        raise next(iter(failed.values()))
    if failed:
        raise LandingError(
            f"{count_of(len(failed), 'feed')} failed to land: {', '.join(failed)}.",
            "Fix the errors above and land again. Landed data is kept; the other feeds resume.",
        )


def follow(spark: SparkSession, ops_schema: str, feeds: Sequence[Feed], options: LandingOptions) -> None:
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
    lock_tables([f"{ops_schema}.landing", *(feed.table for feed in feeds)])
    landers = [
        _topic_lander(spark, ops_schema, feed, options) for feed in feeds if isinstance(feed, TopicFeed)
    ]
    streams = [
        lander.start(follows=True, on_batch=partial(print_landed, feed, seconds=0.0))
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


def print_landed(feed: Feed, outcome: Outcome, seconds: float) -> None:
    """Print one line for a landing, and a note for each point to check.

    Args:
        feed: the feed.
        outcome: the outcome of its landing.
        seconds: the duration of the landing.
    """
    output.row("landed", feed.table, outcome.message, seconds, **outcome.facts)
    for one in outcome.all_notes(feed):
        output.note(one.event, one.message, **one.facts)


def _land_and_print(
    spark: SparkSession, ops_schema: str, feed: Feed, options: LandingOptions, report: Report
) -> Outcome | None:
    started, began = time.monotonic(), utc_now()
    try:
        with _watched(spark, feed), locked(feed.table, f"{ops_schema}.landing"):
            outcome = _land_one(spark, ops_schema, feed, options)
    except TidemarkError as error:
        report(feed, began, error)
        raise
    if outcome is not None:
        print_landed(feed, outcome, time.monotonic() - started)
        report(feed, began, outcome.rows_landed)
    return outcome


def _land_one(spark: SparkSession, ops_schema: str, feed: Feed, options: LandingOptions) -> Outcome | None:
    land = LANDINGS[type(feed)]
    if isinstance(feed, FileFeed):  # it shows its progress
        return land(spark, feed, ops_schema, options)
    if options.replays and isinstance(feed, TableFeed):  # it has no rejected rows
        return None
    with output.status(f"landing {feed.name}"):
        return land(spark, feed, ops_schema, options)


def _land_files(spark: SparkSession, feed: FileFeed, ops_schema: str, options: LandingOptions) -> Outcome:
    with shown(spark, feed.name, output) as progress, _watched(spark, feed, progress):
        lander = Lander(spark, feed, ops_schema, progress=progress)
        return lander.replay() if options.replays else lander.land()


def _land_table(spark: SparkSession, feed: TableFeed, ops_schema: str, options: LandingOptions) -> Outcome:
    return TableLander(spark, feed, ops_schema, compares_all=options.compares_all).land()


def _land_topic(spark: SparkSession, feed: TopicFeed, ops_schema: str, options: LandingOptions) -> Outcome:
    lander = _topic_lander(spark, ops_schema, feed, options)
    return lander.replay() if options.replays else lander.land()


LANDINGS: dict[type[Feed], Callable[..., Outcome]] = {  # a source is landed by one function
    FileFeed: _land_files,
    TableFeed: _land_table,
    TopicFeed: _land_topic,
}


@contextmanager
def _watched(spark: SparkSession, feed: Feed, progress: Progress | None = None) -> Iterator[None]:
    """Raise an error of this feed for whatever fails: a full disk, the end of Spark's JVM, another cause."""
    try:
        yield
    except TidemarkError:
        raise
    except Exception as error:
        if spark_is_lost(spark):
            raise spark_lost(feed.name, [file.path for file in progress.batch] if progress else []) from error
        if is_disk_full(error):
            raise disk_full(feed.name, feed.table, lake_location()) from error
        raise unexpected(feed.name, feed.declared_in, error) from error


def _topic_lander(
    spark: SparkSession, ops_schema: str, feed: TopicFeed, options: LandingOptions
) -> TopicLander:
    return TopicLander(spark, feed, ops_schema, accepts_loss=options.accepts_loss)
