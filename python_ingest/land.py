"""Land feeds of any kind, and print the outcomes."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

from python_ingest.bronze.outcome import Outcome
from python_ingest.feeds.declarations import Feed, TopicFeed
from python_ingest.files.failures import spark_lost
from python_ingest.files.progress import Shown
from python_ingest.kafka.landing import TopicLander
from python_ingest.land_one import DEFAULT_OPTIONS, Landing, LandingOptions, land_one
from tidemark.base.errors import DeclarationError, LandingError, SparkLostError, TidemarkError
from tidemark.base.interrupts import on_interrupt
from tidemark.base.output import count_of, output
from tidemark.lake.table_locks import lock_tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLLOW_SECONDS = 0.5
Report = Callable[[Landing], None]


def report_nothing(landing: Landing) -> None:
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
    """Land feeds side by side, and print a line for each in their order; if one fails, the others still land.

    Args:
        spark: the session.
        ops_schema: the schema of the state tables.
        feeds: the feeds; of those with an invalid declaration, the error.
        options: the options of the landing.
        prints_errors: whether to print the errors of feeds that failed.
        report: called with each landing as soon as it ends, in any order.

    Returns:
        The outcomes of the feeds that landed, and the errors by the names of the feeds that failed.

    Raises:
        SparkLostError: when Spark's JVM ends; the remaining feeds are skipped.
    """
    if not feeds:
        output.text("  nothing to land: no feed is selected", "nothing_selected")
    is_lost, reporting = threading.Event(), threading.Lock()
    outcomes: list[Any] = []
    failed: dict[str, TidemarkError] = {}

    def land(feed: Feed) -> Landing | None:
        if is_lost.is_set():
            return None
        with shown.feed(feed.name) as progress:
            landing = land_one(spark, ops_schema, feed, options, progress)
        if isinstance(landing.error, SparkLostError):
            is_lost.set()
        with reporting:
            report(landing)
        return landing

    def tell_failed(name: str, error: TidemarkError) -> None:
        failed[name] = error
        if prints_errors:
            output.note("not landed", f"{name}: {error}", style="red", feed=name)

    lost: list[Landing] = []
    with Shown(spark, output) as shown, ThreadPoolExecutor(_at_once(options)) as pool:
        landings = [None if isinstance(feed, DeclarationError) else pool.submit(land, feed) for feed in feeds]
        try:
            for feed, future in zip(feeds, landings, strict=True):
                landing = future.result() if future else None
                if isinstance(feed, DeclarationError):
                    tell_failed(feed.feed, feed)
                elif landing and isinstance(landing.error, SparkLostError):
                    lost.append(landing)
                elif landing and landing.error:
                    tell_failed(feed.name, landing.error)
                elif landing and landing.outcome:
                    print_landed(feed, landing.outcome, landing.seconds)
                    outcomes.append(landing.outcome)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    if lost:
        paths = [path for landing in lost for path in landing.reading]
        raise spark_lost([landing.feed.name for landing in lost], paths) from lost[0].error
    return outcomes, failed


def _at_once(options: LandingOptions) -> int:
    """Return how many feeds land side by side: replays mark rows of a table that the feeds have in common."""
    return 1 if options.replays else max(1, options.at_once)


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
        TopicLander(spark, feed, ops_schema, accepts_loss=options.accepts_loss)
        for feed in feeds
        if isinstance(feed, TopicFeed)
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
