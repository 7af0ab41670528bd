"""Land one feed of any kind; whatever fails is an error of this feed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from python_ingest.bronze.outcome import Outcome
from python_ingest.feeds.declarations import Feed, FileFeed, TableFeed, TopicFeed
from python_ingest.files.failures import disk_full, spark_lost, unexpected
from python_ingest.files.landing import Lander
from python_ingest.files.progress import Progress
from python_ingest.kafka.landing import TopicLander
from python_ingest.postgresql.landing import TableLander
from tidemark.base.clock import utc_now
from tidemark.base.errors import TidemarkError
from tidemark.lake.delta_log import make_active
from tidemark.lake.place import lake_location
from tidemark.lake.table_locks import locked
from tidemark.spark.failures import is_disk_full, spark_is_lost

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class LandingOptions:
    """The options of a landing.

    Attributes:
        replays: land rejected files, records and messages again instead of new ones.
        compares_all: compare all rows of tables again.
        accepts_loss: continue if messages of a topic were lost.
        at_once: how many feeds land side by side; what was rejected lands again feed by feed.
    """

    replays: bool = False
    compares_all: bool = False
    accepts_loss: bool = False
    at_once: int = 1


DEFAULT_OPTIONS = LandingOptions()


@dataclass(frozen=True)
class Landing:
    """How one feed landed.

    Attributes:
        feed: the feed.
        began, ended: when, in UTC.
        seconds: its duration.
        outcome: the outcome; None if it failed, and for a table when what was rejected lands again.
        error: why it failed.
        reading: the files of the batch that failed.
    """

    feed: Feed
    began: datetime
    ended: datetime
    seconds: float
    outcome: Outcome | None = None
    error: TidemarkError | None = None
    reading: tuple[str, ...] = ()


def land_one(
    spark: SparkSession, ops_schema: str, feed: Feed, options: LandingOptions, progress: Progress
) -> Landing:
    """Land a feed.

    Args:
        spark: the session.
        ops_schema: the schema of the state tables.
        feed: the feed.
        options: the options of the landing.
        progress: is informed about the progress of the landing.
    """
    started, began = time.monotonic(), utc_now()
    outcome, error = None, None
    try:
        with _watched(spark, feed, progress), locked(feed.table, f"{ops_schema}.landing"):
            make_active(spark)  # each thread has an active session of its own
            outcome = LANDINGS[type(feed)](spark, feed, ops_schema, options, progress)
    except TidemarkError as caught:
        outcome, error = None, caught
    reading = tuple(file.path for file in progress.batch)
    return Landing(feed, began, utc_now(), time.monotonic() - started, outcome, error, reading)


def _land_files(
    spark: SparkSession, feed: FileFeed, ops_schema: str, options: LandingOptions, progress: Progress
) -> Outcome:
    lander = Lander(spark, feed, ops_schema, progress=progress)
    return lander.replay() if options.replays else lander.land()


def _land_table(
    spark: SparkSession, feed: TableFeed, ops_schema: str, options: LandingOptions, _: Progress
) -> Outcome | None:
    if options.replays:  # no row of a table is rejected
        return None
    return TableLander(spark, feed, ops_schema, compares_all=options.compares_all).land()


def _land_topic(
    spark: SparkSession, feed: TopicFeed, ops_schema: str, options: LandingOptions, _: Progress
) -> Outcome:
    lander = TopicLander(spark, feed, ops_schema, accepts_loss=options.accepts_loss)
    return lander.replay() if options.replays else lander.land()


LANDINGS: dict[type[Feed], Callable[..., Outcome | None]] = {  # a source is landed by one function
    FileFeed: _land_files,
    TableFeed: _land_table,
    TopicFeed: _land_topic,
}


@contextmanager
def _watched(spark: SparkSession, feed: Feed, progress: Progress) -> Iterator[None]:
    """Raise an error of this feed for whatever fails: a full disk, the end of Spark's JVM, another cause."""
    try:
        yield
    except TidemarkError:
        raise
    except Exception as error:
        if spark_is_lost(spark):
            raise spark_lost([feed.name], [file.path for file in progress.batch]) from error
        if is_disk_full(error):
            raise disk_full(feed.name, feed.table, lake_location()) from error
        raise unexpected(feed.name, feed.declared_in, error) from error
